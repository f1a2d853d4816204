// Files, read through an interface so that /proc and /sys of other machines can be put in their place.
//
//   RootedFileSystem machine("tests/roots/laptop-hybrid");
//   machine.read("/proc/cpuinfo");                     // reads tests/roots/laptop-hybrid/proc/cpuinfo
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap {

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // The whole file; the error names the path and the reason.
  virtual Result<std::string> read(const std::string& path) const = 0;
  // Names in a folder, sorted; empty where there is no such folder.
  virtual std::vector<std::string> list(const std::string& path) const = 0;
  virtual bool exists(const std::string& path) const = 0;

  // The file's text without white space at its ends, or nothing where it cannot be read.
  std::optional<std::string> read_trimmed(const std::string& path) const;
};

// The machine's own files, below a root ("" is the machine itself). A path stays below its root: ".." ends
// there, and an absolute link in a captured tree leads to the same path of that tree.
class RootedFileSystem final : public FileSystem {
 public:
  explicit RootedFileSystem(std::string root = "") : root_(std::move(root)) {}
  Result<std::string> read(const std::string& path) const override;
  std::vector<std::string> list(const std::string& path) const override;
  bool exists(const std::string& path) const override;

 private:
  std::string root_;
};

// Takes the next piece of what is written; an error (a full disk) ends the writing.
using ByteSink = std::function<Result<void>(std::string_view)>;

// Writes beside the target, syncs and renames, so that a reader never sees half a file; on an error (a full
// disk) the target is as it was. It keeps the mode of a file that it replaces, replaces the file that a link
// leads to, and writes straight to what is no file (/dev/stdout, a pipe).
Result<void> write_file_atomically(const std::string& path, std::string_view content);
// The same of what is too large to be held: `produce` writes it piece by piece; what it returns as an error
// is returned, and the target is as it was.
Result<void> write_file_atomically(const std::string& path,
                                   const std::function<Result<void>(const ByteSink&)>& produce);
// Makes a folder and its parents.
Result<void> make_folders(const std::string& path);
// Room left for this user on the file system that holds `path` (its nearest existing parent).
Result<Bytes> free_space(const std::string& path);
// $DEEPGAP_CACHE, else $XDG_CACHE_HOME/deepgap, else ~/.cache/deepgap: generated models live there.
std::string cache_folder();

}  // namespace deepgap
