// Reads the members of a JSON object that came from another program: the first that is missing or of another
// type is kept as the error, and reading goes on with a default, so that a decoder is one list of members.
//
//   Fields fields(json, "reply to 'load'");
//   reply.load_time = fields.nanoseconds("load_ns");
//   reply.note = fields.optional_text("note");             // absent or null: nothing
//   if (auto error = fields.error()) return *error;        // "reply to 'load': expected 'load_ns' to be a
//   whole number, found ..."
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap::run {

class Fields {
 public:
  // `json` must outlive this. One that is no object has no members.
  Fields(const nlohmann::json& json, std::string where);

  std::int64_t integer(const char* name);
  int small_integer(const char* name);  // fits an int
  double number(const char* name);
  bool boolean(const char* name);
  std::string text(const char* name);
  std::vector<std::string> texts(const char* name);
  std::vector<std::int64_t> integers(const char* name);
  Nanoseconds nanoseconds(const char* name) { return Nanoseconds(integer(name)); }

  std::optional<std::int64_t> optional_integer(const char* name);
  std::optional<int> optional_small_integer(const char* name);
  std::optional<double> optional_number(const char* name);
  std::optional<bool> optional_boolean(const char* name);
  std::optional<std::string> optional_text(const char* name);
  std::optional<Nanoseconds> optional_nanoseconds(const char* name);

  // A member that is an object or a list; one that is missing is empty, and an error unless optional.
  const nlohmann::json& object(const char* name);
  const nlohmann::json& list(const char* name);
  const nlohmann::json& optional_object(const char* name);
  const nlohmann::json& optional_list(const char* name);

  // Each object of the list `name`: body(Fields&).
  template <typename Body>
  void each(const char* name, bool required, Body body) {
    for (const auto& entry : required ? list(name) : optional_list(name)) {
      Fields fields(entry, where_ + ", '" + name + "'");
      if (!entry.is_object()) fields.expected("an entry", "an object", entry);
      body(fields);
      adopt(fields);
    }
  }
  // Takes over another's error, if this has none yet.
  void adopt(const Fields& other);
  // Says that a value is wrong in a way of its own: "'mode' to be latency or throughput", "'sever'".
  void fail(const std::string& expected, const std::string& found);

  bool ok() const { return !error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }

 private:
  const nlohmann::json* find(const char* name) const;
  const nlohmann::json& member(const char* name, const char* type, bool required,
                               bool (*is_type)(const nlohmann::json&));
  void expected(const std::string& what, const char* type, const nlohmann::json& found);

  const nlohmann::json& json_;
  std::string where_;
  std::optional<Error> error_;
};

}  // namespace deepgap::run
