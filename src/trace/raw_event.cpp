#include "trace/raw_event.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace deepgap::trace {
namespace {

namespace on_demand = simdjson::ondemand;

struct Field {
  std::string_view name;
  std::string_view RawEvent::*into;
};

constexpr Field kFields[] = {
    {"ph", &RawEvent::phase},   {"cat", &RawEvent::category}, {"pid", &RawEvent::process},
    {"tid", &RawEvent::thread}, {"ts", &RawEvent::time},      {"dur", &RawEvent::duration},
};

constexpr Field kArguments[] = {
    {"External id", &RawEvent::external_id},
    {"external id", &RawEvent::external_id},
    {"correlation", &RawEvent::correlation},
    {"Input Dims", &RawEvent::shapes},
    {"Input dims", &RawEvent::shapes},
    {"Input type", &RawEvent::dtypes},
    {"Input Strides", &RawEvent::strides},
    {"Concrete Inputs", &RawEvent::values},
    {"device", &RawEvent::device},
    {"Device Id", &RawEvent::device},
    {"context", &RawEvent::context},
    {"stream", &RawEvent::stream},
    {"grid", &RawEvent::grid},
    {"block", &RawEvent::block},
    {"registers per thread", &RawEvent::registers},
    {"shared memory", &RawEvent::shared_memory},
    {"bytes", &RawEvent::bytes},
    {"Bytes", &RawEvent::bytes},
    {"graph node id", &RawEvent::graph_node},
    {"Total Allocated", &RawEvent::total_allocated},
    {"Device Type", &RawEvent::device_type},
    {"op_name", &RawEvent::op_name},
    {"provider", &RawEvent::provider},
    {"input_type_shape", &RawEvent::input_type_shape},
};

// A token without the white space that may follow it. (deepgap::trim looks each byte up.)
std::string_view bare(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

std::string_view unquoted(std::string_view token) {
  token = bare(token);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    token = trim(token.substr(1, token.size() - 2));
  return token;
}

// The value's text: of a list or an object all of it.
bool take(on_demand::value value, std::string_view& into) {
  if (value.type().value_unsafe() == on_demand::json_type::array)
    return value.raw_json().get(into) == simdjson::SUCCESS;
  into = bare(value.raw_json_token());
  return true;
}

// By length first: most names differ in it.
template <std::size_t count>
const Field* field_of(const Field (&fields)[count], std::string_view name) {
  for (const Field& field : fields) {
    if (field.name.size() == name.size() && field.name.front() == name.front() && field.name == name)
      return &field;
  }
  return nullptr;
}

bool take_arguments(on_demand::object arguments, RawEvent& event) {
  for (auto argument : arguments) {
    std::string_view name;
    if (argument.escaped_key().get(name) != simdjson::SUCCESS) return false;
    const Field* field = field_of(kArguments, name);
    if (field != nullptr) {
      if (!take(argument.value(), event.*field->into)) return false;
    } else if (name == "name") {
      std::string_view title;
      if (argument.value().get_string().get(title) == simdjson::SUCCESS) event.title = title;
    }
  }
  return true;
}

}  // namespace

struct RawEventParser::State {
  on_demand::parser parser;
};

RawEventParser::RawEventParser() : state_(std::make_unique<State>()) {}
RawEventParser::~RawEventParser() = default;

bool RawEventParser::parse(std::string_view text, RawEvent& event) {
  event = {};
  on_demand::document document;
  const simdjson::padded_string_view padded(text, text.size() + kJsonPadding);
  if (state_->parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  on_demand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    std::string_view name;
    if (field.escaped_key().get(name) != simdjson::SUCCESS) return false;
    if (name == "name") {
      if (field.value().get_string().get(event.name) != simdjson::SUCCESS) return false;
    } else if (name == "args") {
      on_demand::object arguments;
      // Some producers write a text there: it tells nothing.
      if (field.value().get_object().get(arguments) == simdjson::SUCCESS &&
          !take_arguments(arguments, event)) {
        return false;
      }
    } else if (const Field* known = field_of(kFields, name)) {
      if (!take(field.value(), event.*known->into)) return false;
    }
  }
  event.phase = unquoted(event.phase);
  event.category = unquoted(event.category);
  return true;
}

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  std::string_view text = unquoted(microseconds);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;  // a second sign
  std::int64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole > std::numeric_limits<std::int64_t>::max() / 1000 - 1)
    return std::nullopt;
  std::int64_t nanoseconds = whole * 1000;
  const char* at = behind;
  if (at != end && *at == '.') {
    std::int64_t scale = 100;
    for (++at; at != end && *at >= '0' && *at <= '9'; ++at) {
      const int digit = *at - '0';
      if (scale > 0) {
        nanoseconds += digit * scale;
        scale = scale > 1 ? scale / 10 : -1;
      } else if (scale == -1) {
        if (digit >= 5) ++nanoseconds;
        scale = 0;
      }
    }
  }
  if (at != end) {
    // An exponent, which only other tools write: what a double holds must do.
    double value = 0;
    const auto [stop, fault] = std::from_chars(text.data(), end, value);
    if (fault != std::errc() || stop != end || !(value < 9.2e15)) return std::nullopt;
    nanoseconds = std::llround(value * 1000);
  }
  return negative ? -nanoseconds : nanoseconds;
}

std::optional<std::uint64_t> id_of(std::string_view number) {
  const std::string_view text = unquoted(number);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_of(std::string_view number) {
  const std::string_view text = unquoted(number);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace deepgap::trace
