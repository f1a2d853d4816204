#include "trace/csv_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace deepgap::trace {
namespace {

template <typename T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view CsvRow::text(std::string_view column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  const auto index = static_cast<std::size_t>(found - names_.begin());
  return index < fields_.size() ? trim(fields_[index]) : std::string_view();
}

Error CsvRow::expected(std::string_view column, std::string_view what) const {
  return bad_input(fmt::format("{}: expected {} in the column {}, found '{}'", place_, what, column,
                               printable(text(column), 60)));
}

Result<std::int64_t> CsvRow::whole(std::string_view column, std::int64_t least,
                                   std::optional<std::int64_t> most) const {
  const auto value = number_of<std::int64_t>(text(column));
  if (value && *value >= least && *value <= most.value_or(*value)) return *value;
  return expected(column, most ? fmt::format("a whole number from {} to {}", least, *most)
                               : fmt::format("a whole number of at least {}", least));
}

Result<std::optional<double>> CsvRow::figure(std::string_view column) const {
  if (text(column).empty()) return std::optional<double>();
  const auto value = number_of<double>(text(column));
  if (!value || !(*value >= 0) || *value > kLargestFigure)
    return expected(column, fmt::format("a number from 0 to {:g}, or nothing", kLargestFigure));
  return std::optional<double>(value);
}

}  // namespace deepgap::trace
