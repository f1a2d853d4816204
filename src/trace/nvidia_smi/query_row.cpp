#include "trace/nvidia_smi/query_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "base/time_text.h"

namespace deepgap::trace {
namespace {

using Use = QueryColumn::Use;

constexpr std::size_t kShown = 60;
constexpr std::string_view kMakes[] = {"NVIDIA ", "Tesla ", "Quadro ", "GeForce "};

bool is_time(std::string_view cell) {
  return parse_time(unquoted(cell)).has_value();
}

bool is_device_name(std::string_view cell) {
  return std::any_of(std::begin(kMakes), std::end(kMakes),
                     [cell](std::string_view make) { return cell.starts_with(make); });
}

QueryColumn unnamed(std::string_view cell, std::size_t column) {
  return {.name = fmt::format("column {} ('{}')", column + 1, printable(cell, kShown))};
}

}  // namespace

std::vector<std::string_view> query_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; cells.size() <= kMostQueryColumns;) {
    const std::size_t comma = line.find(',', at);
    cells.push_back(trim(line.substr(at, comma - at)));
    if (comma == std::string_view::npos) break;
    at = comma + 1;
  }
  return cells;
}

std::string_view unquoted(std::string_view cell) {
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  return trim(cell);
}

bool are_query_names(const std::vector<std::string_view>& cells) {
  std::size_t known = 0;
  bool sensor = false;
  for (const std::string_view cell : cells) {
    if (cell.empty() || (cell.front() >= '0' && cell.front() <= '9')) return false;
    const QueryColumn column = column_of(cell);
    if (column.use != Use::kUnknown) ++known;
    sensor = sensor || column.is_sensor();
  }
  return sensor && (known >= 2 || cells.size() == 1);
}

bool are_query_readings(const std::vector<std::string_view>& cells) {
  std::size_t units = 0;
  bool watts = false, time = false;
  for (const std::string_view cell : cells) {
    const Reading reading = read_reading(cell);
    time = time || is_time(cell);
    if (reading.kind != Reading::Kind::kNumber || reading.text.empty()) continue;
    ++units;
    watts = watts || reading.text == "W";
  }
  return (time && units > 0) || (watts && units == cells.size());
}

bool is_time_by_form(std::string_view cell, std::size_t column) {
  const bool digits = unquoted(cell).find_first_not_of("0123456789.") == std::string_view::npos;
  return is_time(cell) && (column == 0 || !digits);
}

std::optional<double> performance_state(std::string_view cell) {
  constexpr int kSlowest = 15;
  if (cell.size() < 2 || cell.size() > 3 || cell.front() != 'P') return std::nullopt;
  int state = 0;
  for (const char c : cell.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    state = state * 10 + (c - '0');
  }
  if (state > kSlowest) return std::nullopt;
  return state;
}

std::vector<QueryColumn> columns_by_form(const std::vector<std::string_view>& cells) {
  std::vector<QueryColumn> columns(cells.size());
  std::size_t watts = 0;
  bool time = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view cell = cells[i];
    const Reading reading = read_reading(cell);
    if (!time && is_time_by_form(cell, i)) {
      time = true;
      columns[i] = column_of("timestamp");
    } else if (reading.kind == Reading::Kind::kNumber && reading.text == "W") {
      ++watts;
      columns[i] = column_of("power.draw");
    } else if (performance_state(cell)) {
      columns[i] = column_of("pstate");
    } else if (cell.starts_with("GPU-")) {
      columns[i] = column_of("uuid");
    } else if (is_device_name(cell)) {
      columns[i] = column_of("name");
    } else {
      columns[i] = unnamed(cell, i);
    }
  }
  if (watts > 1) {  // what is drawn, and limits
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns[i].quantity == "power") columns[i] = unnamed(cells[i], i);
    }
  }
  return columns;
}

}  // namespace deepgap::trace
