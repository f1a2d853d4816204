// A folder of a test's own, removed with all that is in it. For tests only.
//
//   TemporaryFolder folder;
//   write_file_atomically(folder / "a.txt", "text");
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace deepgap {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "deepgap-test-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) path_.clear();  // the test's first use of it fails then
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace deepgap
