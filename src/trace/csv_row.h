// A record of a table whose first line names its columns.
//
//   const CsvRow row(names, fields, "study.csv, line 7");
//   DEEPGAP_ASSIGN(const std::int64_t batch, row.whole("batch_size", 1));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deepgap::trace {

// Above is no time (30 years in ms), no throughput and no memory of this world.
inline constexpr double kLargestFigure = 1e12;

class CsvRow {
 public:
  // `names` and `fields` outlive it; a field that a short record lacks is empty.
  CsvRow(const std::vector<std::string>& names, const std::vector<std::string>& fields, std::string place)
      : names_(names), fields_(fields), place_(std::move(place)) {}

  // Without white space at its ends; "" where there is no such column.
  std::string_view text(std::string_view column) const;
  // "PLACE: expected WHAT in the column COLUMN, found '...'"
  Error expected(std::string_view column, std::string_view what) const;
  Result<std::int64_t> whole(std::string_view column, std::int64_t least,
                             std::optional<std::int64_t> most = std::nullopt) const;
  // From 0 to kLargestFigure; absent for an empty field.
  Result<std::optional<double>> figure(std::string_view column) const;

 private:
  const std::vector<std::string>& names_;
  const std::vector<std::string>& fields_;
  std::string place_;
};

}  // namespace deepgap::trace
