// Settings that this process fixes before the engine makes its first thread or allocation, and what became of
// them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/setting.h"

namespace deepgap::openvino {

// Processors of a list such as "0-3,8", ascending. Errors: another form, a number above 8191, an empty list.
Result<std::vector<int>> parse_processors(const std::string& list);

// Sets cpu.affinity and memory.huge_pages as far as they are requested. Errors: a value of another form, or
// one that the kernel refuses.
Result<void> apply_process_settings(const std::map<std::string, std::string>& requested);
// Rows for both, read back from the kernel.
std::vector<Setting> effective_process_settings(const std::map<std::string, std::string>& requested);

}  // namespace deepgap::openvino
