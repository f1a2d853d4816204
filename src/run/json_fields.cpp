#include "run/json_fields.h"

#include <limits>

#include "base/text.h"

namespace deepgap::run {
namespace {

using nlohmann::json;

constexpr std::size_t kShown = 60;

const json& null_value() {
  static const json value;
  return value;
}

// A whole number that fits int64 (a larger one is unsigned in this library).
bool is_integer(const json& value) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value.is_number_integer();
}
bool is_number(const json& value) {
  return value.is_number();
}
bool is_boolean(const json& value) {
  return value.is_boolean();
}
bool is_text(const json& value) {
  return value.is_string();
}
bool is_object(const json& value) {
  return value.is_object();
}
bool is_list(const json& value) {
  return value.is_array();
}

constexpr const char* kInteger = "a whole number";
constexpr const char* kNumber = "a number";
constexpr const char* kBoolean = "true or false";
constexpr const char* kText = "text";
constexpr const char* kObject = "an object";
constexpr const char* kList = "a list";

}  // namespace

Fields::Fields(const json& json, std::string where) : json_(json), where_(std::move(where)) {}

const json* Fields::find(const char* name) const {
  if (!json_.is_object()) return nullptr;
  const auto entry = json_.find(name);
  return entry == json_.end() ? nullptr : &*entry;
}

const json& Fields::member(const char* name, const char* type, bool required, bool (*is_type)(const json&)) {
  const json* value = find(name);
  if (value == nullptr || value->is_null()) {
    if (required) fail("'" + std::string(name) + "', " + type, value == nullptr ? "none" : "null");
    return null_value();
  }
  if (is_type(*value)) return *value;
  expected("'" + std::string(name) + "'", type, *value);
  return null_value();
}

void Fields::expected(const std::string& what, const char* type, const json& found) {
  fail(what + " to be " + type,
       "'" + printable(found.dump(-1, ' ', true, json::error_handler_t::replace), kShown) + "'");
}

void Fields::fail(const std::string& expected, const std::string& found) {
  if (!error_) error_ = bad_input(where_ + ": expected " + expected + ", found " + found);
}

void Fields::adopt(const Fields& other) {
  if (!error_) error_ = other.error_;
}

std::optional<std::int64_t> Fields::optional_integer(const char* name) {
  const json& value = member(name, kInteger, false, is_integer);
  if (value.is_null()) return std::nullopt;
  return value.get<std::int64_t>();
}
std::int64_t Fields::integer(const char* name) {
  const json& value = member(name, kInteger, true, is_integer);
  return value.is_null() ? 0 : value.get<std::int64_t>();
}

std::optional<int> Fields::optional_small_integer(const char* name) {
  const auto value = optional_integer(name);
  if (!value) return std::nullopt;
  if (*value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max()) {
    fail("'" + std::string(name) + "' to fit 32 bits", std::to_string(*value));
    return std::nullopt;
  }
  return static_cast<int>(*value);
}
int Fields::small_integer(const char* name) {
  (void)integer(name);  // says so if it is missing
  return optional_small_integer(name).value_or(0);
}

std::optional<double> Fields::optional_number(const char* name) {
  const json& value = member(name, kNumber, false, is_number);
  if (value.is_null()) return std::nullopt;
  return value.get<double>();
}
double Fields::number(const char* name) {
  const json& value = member(name, kNumber, true, is_number);
  return value.is_null() ? 0 : value.get<double>();
}

std::optional<bool> Fields::optional_boolean(const char* name) {
  const json& value = member(name, kBoolean, false, is_boolean);
  if (value.is_null()) return std::nullopt;
  return value.get<bool>();
}
bool Fields::boolean(const char* name) {
  const json& value = member(name, kBoolean, true, is_boolean);
  return value.is_null() ? false : value.get<bool>();
}

std::optional<std::string> Fields::optional_text(const char* name) {
  const json& value = member(name, kText, false, is_text);
  if (value.is_null()) return std::nullopt;
  return value.get<std::string>();
}
std::string Fields::text(const char* name) {
  const json& value = member(name, kText, true, is_text);
  return value.is_null() ? std::string() : value.get<std::string>();
}

std::optional<Nanoseconds> Fields::optional_nanoseconds(const char* name) {
  const auto value = optional_integer(name);
  if (!value) return std::nullopt;
  return Nanoseconds(*value);
}

const json& Fields::object(const char* name) {
  return member(name, kObject, true, is_object);
}
const json& Fields::list(const char* name) {
  return member(name, kList, true, is_list);
}
const json& Fields::optional_object(const char* name) {
  return member(name, kObject, false, is_object);
}
const json& Fields::optional_list(const char* name) {
  return member(name, kList, false, is_list);
}

std::vector<std::string> Fields::texts(const char* name) {
  std::vector<std::string> values;
  for (const auto& entry : list(name)) {
    if (entry.is_string())
      values.push_back(entry.get<std::string>());
    else
      expected("each of '" + std::string(name) + "'", kText, entry);
  }
  return values;
}

std::vector<std::int64_t> Fields::integers(const char* name) {
  std::vector<std::int64_t> values;
  for (const auto& entry : list(name)) {
    if (is_integer(entry))
      values.push_back(entry.get<std::int64_t>());
    else
      expected("each of '" + std::string(name) + "'", kInteger, entry);
  }
  return values;
}

}  // namespace deepgap::run
