// The input: eight bytes of a real number, then a text.
#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "base/units.h"
#include "core/device.h"
#include "core/measurement.h"
#include "core/workload.h"
#include "graph/file_kind.h"
#include "ops/data_type.h"
#include "run/message_stream.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

// Of the largest, four digits may be too many to be read again.
constexpr Nanoseconds kLongest = Nanoseconds::max() - Nanoseconds::max() / 1000;

void try_duration(std::string_view text) {
  const auto duration = parse_duration(text);
  if (!checked(duration)) return;
  require(duration->count() >= 0, "a length of time is not negative");
  if (*duration > kLongest) return;
  const auto again = parse_duration(format_duration(*duration));
  require(again.ok(), "a length of time that was shown can be typed: " + format_duration(*duration));
  const auto difference = std::abs(static_cast<double>((*again - *duration).count()));
  require(difference <= 0.001 * static_cast<double>(duration->count()), "four digits of it are right");
}

void try_number(double value) {
  (void)format_count(value, "FLOP");
  for (const int digits : {1, 4, 17}) {
    const std::string text = format_number(value, digits);
    require(!text.empty() && printable(text) == text, "a number can be shown");
    if (!std::isfinite(value)) continue;
    char* end = nullptr;
    const double read = std::strtod(text.c_str(), &end);
    if (!std::isfinite(read)) continue;  // the largest, rounded up
    require(*end == '\0', "a number that is shown is one: " + text);
    require(std::abs(read - value) <= std::abs(value) * std::pow(10, 1 - digits) + 1e-300,
            "its digits are right: " + text);
  }
}

void try_text(std::string_view text) {
  for (const std::size_t limit : {std::size_t{0}, std::size_t{2}, std::size_t{10}, text.size() * 4 + 4}) {
    const std::string shown = printable(text, limit);
    require(shown.size() <= limit, "a text is cut where it must be");
    require(printable(shown, shown.size()) == shown, "what can be printed stays as it is");
  }
  for (const char separator : {',', '/'}) {
    require(join(split(text, separator), std::string(1, separator)) == text,
            "a text that was split can be joined");
  }
  require(trim(trim(text)) == trim(text), "a trimmed text has nothing to trim");
  require(lower(text).size() == text.size(), "lower case is as long");
  const std::vector<std::string> names{"openvino", "fake", "resnet50", ""};
  (void)nearest_name(text, names);
  (void)unknown_name("engine", text, names);
}

void try_selector(std::string_view text) {
  const auto selector = Selector::parse(text);
  if (!checked(selector)) return;
  CellKey key;
  key.workload.model = "resnet50";
  key.engine = "openvino";
  key.device = "cpu";
  (void)selector->matches(key, "Intel(R) Xeon(R)", {"xeon"});
  require(Selector::parse(key.selector()).value().matches(key, "", {}), "a cell's own selector matches it");
}

void survive(std::string_view input) {
  Reader bytes(input);
  try_number(std::bit_cast<double>(std::uint64_t{bytes.number(8)}));
  const std::string_view text = bytes.rest();
  (void)format_bytes(Bytes{static_cast<std::int64_t>(text.size())});
  try_duration(text);
  try_text(text);
  try_selector(text);
  (void)Selector::looks_like(text);
  (void)wildcard_match(text, "resnet50");
  (void)graph::foreign_kind(text);
  (void)graph::outer_damage(text);
  (void)parse_precision(text);
  (void)parse_mode(text);
  (void)parse_unit(text);
  (void)ops::parse_data_type(text);
  (void)run::parse_element_type(text);
}

std::vector<Seed> seeds() {
  std::vector<Seed> seeds;
  int number = 0;
  for (const char* text :
       {"500ms", "40.4 ms", "3 min", "9223372036s", "0.5ns", "resnet50/openvino/cpu/fp32/b8",
        "resnet*/*/c?u/*/b8/throughput", "a,,b", "\x1b[31m \xE2\x80\xAE \xC3\xA9 \xFF", "<!DOCTYPE html>",
        "\x08\x08", "float32", "opnvino"}) {
    const double value = std::pow(10.0, 3 * number - 15) * 1.2345;
    seeds.push_back(
        {"text_" + std::to_string(number++), bytes_of(std::bit_cast<std::uint64_t>(value), 8) + text});
  }
  return seeds;
}

}  // namespace

const Target kTexts{"texts", "what a user types, numbers and names that are shown", survive, seeds};

}  // namespace deepgap::fuzz
