#include "hw/kernel_text.h"

#include <charconv>
#include <cmath>

#include "base/cpu_list.h"
#include "base/text.h"

namespace deepgap::hw {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

template <typename Number, typename... Format>
std::optional<Number> whole_number(std::string_view text, Format... format) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// What follows the name on a line that holds it as a word, a ':' after it aside.
std::optional<std::string_view> value_after(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  if (at > 0 && kSpace.find(line[at - 1]) == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + name.size());
  if (!rest.empty() && rest.front() == ':') {
    rest.remove_prefix(1);
  } else if (rest.empty() || kSpace.find(rest.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  return trim(rest);
}

}  // namespace

std::optional<std::int64_t> to_integer(std::string_view text) {
  return whole_number<std::int64_t>(trim(text));
}

std::optional<std::int64_t> to_integer_any_base(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x") || text.starts_with("0X")) return whole_number<std::int64_t>(text.substr(2), 16);
  return whole_number<std::int64_t>(text);
}

std::optional<int> within(std::optional<std::int64_t> value, int least, int most) {
  if (!value.has_value() || value.value() < least || value.value() > most) return std::nullopt;
  return static_cast<int>(value.value());
}

std::optional<double> to_real(std::string_view text) {
  const auto value = whole_number<double>(trim(text));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> read_integer(const FileSystem& files, const std::string& path) {
  const auto text = files.read_trimmed(path);
  return text ? to_integer(*text) : std::nullopt;
}

std::optional<double> read_kilohertz(const FileSystem& files, const std::string& path) {
  const auto kilohertz = read_integer(files, path);
  // 100 GHz: what is above is no clock.
  if (!kilohertz || *kilohertz <= 0 || *kilohertz > 100'000'000) return std::nullopt;
  return static_cast<double>(*kilohertz) * 1e3;
}

std::optional<std::vector<int>> read_cpu_list(const FileSystem& files, const std::string& path) {
  const auto text = files.read_trimmed(path);
  return text ? parse_cpu_list(*text) : std::nullopt;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;
       at = line.find_first_not_of(kSpace, at)) {
    const std::size_t end = line.find_first_of(kSpace, at);
    words.push_back(line.substr(at, end - at));
    if (end == std::string_view::npos) break;
    at = end;
  }
  return words;
}

std::optional<Bytes> kilobyte_field(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines_of(text)) {
    const auto value = value_after(line, name);
    if (!value) continue;
    const auto words = words_of(*value);
    if (words.size() != 2 || words[1] != "kB") return std::nullopt;
    const auto kilobytes = to_integer(words[0]);
    if (!kilobytes || *kilobytes < 0 || *kilobytes > (std::int64_t{1} << 52)) return std::nullopt;
    return Bytes{*kilobytes * 1024};
  }
  return std::nullopt;
}

std::optional<std::int64_t> keyed_integer(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (words.size() == 2 && words[0] == name) return to_integer(words[1]);
  }
  return std::nullopt;
}

std::optional<int> numbered_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.empty() || name.front() < '0' || name.front() > '9') return std::nullopt;
  return whole_number<int>(name);
}

}  // namespace deepgap::hw
