// A line of nvidia-smi's query CSV taken apart, and what lines are told by.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/nvidia_smi/query_columns.h"

namespace deepgap::trace {

inline constexpr std::size_t kMostQueryColumns = 256;  // nvidia-smi knows some 200

// Without white space around them; one more than the most where there are more. They look into `line`.
std::vector<std::string_view> query_cells(std::string_view line);
// Without quotes around it, which a table program may have put there.
std::string_view unquoted(std::string_view cell);

// Whether these are names, of which one is a sensor's.
bool are_query_names(const std::vector<std::string_view>& cells);
// Whether a row without names can only be one of these logs: readings beside a time, or readings alone with
// watts among them.
bool are_query_readings(const std::vector<std::string_view>& cells);

// Whether a cell can be a column of times by its form alone. (Ten digits may also be a serial number: only in
// the first column they are a time.)
bool is_time_by_form(std::string_view cell, std::size_t column);
// 8 of "P8"; nothing for what is no such state.
std::optional<double> performance_state(std::string_view cell);
// What columns without names are, by their first row: unknown where its form does not tell.
std::vector<QueryColumn> columns_by_form(const std::vector<std::string_view>& cells);

}  // namespace deepgap::trace
