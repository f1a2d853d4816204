#include "arguments.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace deepgap::app {

bool Arguments::has(std::string_view name) const {
  return values_.find(name) != values_.end();
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

Result<std::vector<std::string>> Arguments::list(std::string_view name) const {
  std::vector<std::string> out;
  for (const std::string& value : texts(name)) {
    for (const std::string& part : split(value, ',')) {
      const std::string_view trimmed = trim(part);
      if (trimmed.empty()) {
        return usage_error(fmt::format("{}: expected values separated by commas, found an empty one in '{}'",
                                       name, printable(value)));
      }
      out.emplace_back(trimmed);
    }
  }
  return out;
}

Result<std::int64_t> parse_integer(std::string_view text, std::string_view what, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least) {
    return usage_error(
        fmt::format("{}: expected a whole number of at least {}, found '{}'", what, least, printable(text)));
  }
  return value;
}

Result<std::optional<std::int64_t>> Arguments::integer(std::string_view name, std::int64_t least) const {
  const auto value = text(name);
  if (!value) return std::optional<std::int64_t>{};
  DEEPGAP_ASSIGN(const std::int64_t number, parse_integer(*value, name, least));
  return std::optional(number);
}

Result<std::optional<Nanoseconds>> Arguments::duration(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::optional<Nanoseconds>{};
  DEEPGAP_ASSIGN(const Nanoseconds length, parse_duration(*value).in(std::string(name)));
  if (length.count() <= 0) {
    return usage_error(
        fmt::format("{}: expected a duration above zero, found '{}'", name, printable(*value)));
  }
  return std::optional(length);
}

Result<std::optional<double>> Arguments::share(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::optional<double>{};
  std::string_view digits = *value;
  double scale = 1;
  if (!digits.empty() && digits.back() == '%') {
    digits.remove_suffix(1);
    scale = 0.01;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  number *= scale;
  if (error != std::errc{} || end != digits.data() + digits.size() || !(number > 0 && number < 1)) {
    return usage_error(
        fmt::format("{}: expected a share such as 1% or 0.01, found '{}'", name, printable(*value)));
  }
  return std::optional(number);
}

Result<std::vector<std::int64_t>> Arguments::integers(std::string_view name, std::int64_t least) const {
  DEEPGAP_ASSIGN(const std::vector<std::string> parts, list(name));
  std::vector<std::int64_t> out;
  for (const std::string& part : parts) {
    DEEPGAP_ASSIGN(const std::int64_t number, parse_integer(part, name, least));
    out.push_back(number);
  }
  return out;
}

Result<std::map<std::string, std::string>> Arguments::pairs(std::string_view name, SplitAt place) const {
  std::map<std::string, std::string> out;
  for (const std::string& value : texts(name)) {
    const std::size_t equals = place == SplitAt::kFirst ? value.find('=') : value.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return usage_error(fmt::format("{}: expected NAME=VALUE, found '{}'", name, printable(value)));
    }
    if (!out.emplace(value.substr(0, equals), value.substr(equals + 1)).second) {
      return usage_error(fmt::format("{}: '{}' is given twice", name, printable(value.substr(0, equals))));
    }
  }
  return out;
}

}  // namespace deepgap::app
