#include "store/json_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace deepgap::store {
namespace {

// Names and aliases come from outside: bytes that are no UTF-8 are replaced, not thrown at.
template <typename Value>
std::string to_json(const Value& value) {
  if (value.empty()) return "";
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr int kDeepest = 2;  // lists of lists

// get() makes an integer of any number, also of one that is not whole or does not fit.
bool has_only_whole_numbers(const nlohmann::json& value, int depth = 0) {
  if (value.is_structured()) {
    return depth < kDeepest && std::ranges::all_of(value, [depth](const nlohmann::json& entry) {
             return has_only_whole_numbers(entry, depth + 1);
           });
  }
  if (!value.is_number()) return true;
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || std::in_range<std::int64_t>(value.get<std::uint64_t>()));
}

template <typename Value>
Result<Value> from_json(std::string_view json, std::string_view wanted) {
  if (json.empty()) return Value{};
  try {
    const auto parsed = nlohmann::json::parse(json);
    if (has_only_whole_numbers(parsed)) return parsed.get<Value>();
  } catch (const nlohmann::json::exception&) {
    // Said below.
  }
  return bad_input(fmt::format("expected {}, found '{}'", wanted, printable(json, 60)));
}

}  // namespace

std::string dims_to_json(const std::map<std::string, std::int64_t>& dims) {
  return to_json(dims);
}

Result<std::map<std::string, std::int64_t>> dims_from_json(std::string_view json) {
  return from_json<std::map<std::string, std::int64_t>>(json, "a JSON object of integers");
}

std::string texts_to_json(const std::vector<std::string>& texts) {
  return to_json(texts);
}

Result<std::vector<std::string>> texts_from_json(std::string_view json) {
  return from_json<std::vector<std::string>>(json, "a JSON array of texts");
}

std::string shapes_to_json(const std::vector<std::vector<std::int64_t>>& shapes) {
  return to_json(shapes);
}

Result<std::vector<std::vector<std::int64_t>>> shapes_from_json(std::string_view json) {
  return from_json<std::vector<std::vector<std::int64_t>>>(json, "a JSON array of arrays of integers");
}

}  // namespace deepgap::store
