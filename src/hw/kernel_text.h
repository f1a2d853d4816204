// Reading what the kernel writes in /proc and /sys: numbers, "name: value" lines. Text that is not what it
// should be is nothing, never 0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/units.h"

namespace deepgap::hw {

// The whole text as a number, white space around it aside; nothing where it is no number or does not fit.
std::optional<std::int64_t> to_integer(std::string_view text);
// Also "0x41".
std::optional<std::int64_t> to_integer_any_base(std::string_view text);
// The value where it is from `least` to `most`.
std::optional<int> within(std::optional<std::int64_t> value, int least, int most);
std::optional<double> to_real(std::string_view text);

std::optional<std::int64_t> read_integer(const FileSystem& files, const std::string& path);
// A file in kHz (cpufreq), as Hz; nothing where it is absent or not above 0.
std::optional<double> read_kilohertz(const FileSystem& files, const std::string& path);
std::optional<std::vector<int>> read_cpu_list(const FileSystem& files, const std::string& path);

// Lines without their ends. They point into the text, which therefore must not be a temporary.
std::vector<std::string_view> lines_of(std::string_view text);
std::vector<std::string_view> lines_of(std::string&& text) = delete;
// Words between white space; likewise.
std::vector<std::string_view> words_of(std::string_view line);
std::vector<std::string_view> words_of(std::string&& line) = delete;
// "MemTotal:  16384 kB" in a text of such lines -> 16384 kB as bytes.
std::optional<Bytes> kilobyte_field(std::string_view text, std::string_view name);
// "nr_throttled 12" in a text of such lines -> 12.
std::optional<std::int64_t> keyed_integer(std::string_view text, std::string_view name);
// "cpu12" -> 12 with the prefix "cpu"; nothing for other names.
std::optional<int> numbered_name(std::string_view name, std::string_view prefix);

}  // namespace deepgap::hw
