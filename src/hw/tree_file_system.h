// Another machine's files in one text file, as scripts/capture-root.sh writes it and tests/roots keeps them.
//
//   deepgap-root 1
//   # Laptop with two kinds of cores
//   [/proc]
//   cpuinfo:
//   |processor	: 0
//   |vendor_id	: GenuineIntel
//   [/sys/devices/system/cpu/cpu0/topology]
//   core_id = 0
//   ; a folder line holds for the names below it, "name = value" is a file of one line, "name:" one of the
//   lines with |
//
// Lines that begin with # or ; are comments.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/file_system.h"

namespace deepgap::hw {

class TreeFileSystem final : public FileSystem {
 public:
  TreeFileSystem() = default;
  static Result<TreeFileSystem> parse(std::string_view text);

  Result<std::string> read(const std::string& path) const override;
  std::vector<std::string> list(const std::string& path) const override;
  bool exists(const std::string& path) const override;

  // Absolute path; replaces what is there.
  void set(const std::string& path, std::string content) { files_[path] = std::move(content); }
  void remove(const std::string& path) { files_.erase(path); }
  // Path to content, for tests that spoil files one by one.
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace deepgap::hw
