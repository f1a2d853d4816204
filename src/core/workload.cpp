#include "core/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace deepgap {
namespace {

constexpr std::string_view kShape =
    "model/engine/device/precision/batch, with an optional sixth part for the mode";
constexpr std::string_view kExample = "resnet50/openvino/cpu/fp32/b8";

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

// "8" of "b8"; a pattern such as "b*" likewise loses its b.
std::string_view batch_digits(std::string_view text) {
  if (!text.empty() && text.front() == 'b') text.remove_prefix(1);
  return text;
}

Result<std::string> parse_batch(std::string_view text) {
  const std::string_view digits = batch_digits(text);
  if (has_wildcard(digits)) return std::string(digits);
  std::int64_t batch = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), batch);
  if (code != std::errc{} || end != digits.data() + digits.size() || batch < 1) {
    return usage_error(fmt::format("expected a batch as b8, 8 or b*, found '{}'", printable(text)));
  }
  return std::to_string(batch);
}

template <typename Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto& value : values) names.emplace_back(name_of(value));
  return names;
}

}  // namespace

std::string dims_text(const Workload& workload) {
  std::string text;
  for (const auto& [name, size] : workload.dims) {
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(std::to_string(size));
  }
  return text;
}

std::string CellKey::selector() const {
  std::string text = fmt::format("{}/{}/{}/{}/b{}", workload.model, engine, device,
                                 name_of(workload.precision), workload.batch);
  if (workload.mode != Mode::kLatency) text.append("/").append(name_of(workload.mode));
  return text;
}

Result<Selector> Selector::parse(std::string_view text) {
  Selector selector;
  if (text == "*") {
    selector.mode = "*";
    return selector;
  }
  const auto where = [&] { return fmt::format("selector '{}'", printable(text)); };
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() != 5 && parts.size() != 6) {
    return usage_error(fmt::format(
        "{}: expected {}, found {} part{}: write it like {} or resnet*/*/*/*/*, or * for every cell", where(),
        kShape, parts.size(), parts.size() == 1 ? "" : "s", kExample));
  }
  if (std::find(parts.begin(), parts.end(), "") != parts.end()) {
    return usage_error(
        fmt::format("{}: expected {}, found an empty part: write * for any, as in resnet50/*/cpu/fp32/b8",
                    where(), kShape));
  }
  if (!has_wildcard(parts[3]) && !parse_precision(parts[3])) {
    return usage_error(unknown_name("precision", parts[3], names_of(all_precisions()))).in(where());
  }
  if (parts.size() == 6 && !has_wildcard(parts[5]) && !parse_mode(parts[5])) {
    return usage_error(unknown_name("mode", parts[5], names_of(all_modes()))).in(where());
  }
  DEEPGAP_ASSIGN(selector.batch, parse_batch(parts[4]).in(where()));
  selector.model = parts[0];
  selector.engine = parts[1];
  selector.device = parts[2];
  selector.precision = parts[3];
  if (parts.size() == 6) selector.mode = parts[5];
  return selector;
}

bool Selector::looks_like(std::string_view text) {
  // A path that does not exist is better called a missing file than a bad selector.
  const bool path =
      text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text.starts_with('~');
  return !path && (has_wildcard(text) || text.find('/') != std::string_view::npos);
}

bool Selector::matches(const CellKey& key, std::string_view device_name,
                       const std::vector<std::string>& device_aliases) const {
  const auto device_matches = [&](std::string_view name) { return wildcard_match(device, name); };
  return wildcard_match(model, key.workload.model) && wildcard_match(engine, key.engine) &&
         wildcard_match(precision, name_of(key.workload.precision)) &&
         wildcard_match(mode, name_of(key.workload.mode)) &&
         wildcard_match(batch_digits(batch), std::to_string(key.workload.batch)) &&
         (device_matches(key.device) || device_matches(device_name) ||
          std::any_of(device_aliases.begin(), device_aliases.end(), device_matches));
}

bool wildcard_match(std::string_view pattern, std::string_view text) {
  // Greedy with a step back to the last *: an earlier * never needs another try, so the work is at most the
  // product of the lengths.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t after_star = 0;  // where in the text the last * stops taking
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace deepgap
