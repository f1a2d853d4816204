// Files for the tests of importers.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"
#include "trace/importer.h"

namespace deepgap::trace {

// Files of other projects, beside this one's folder where they are there.
inline const std::string kThirdParty = DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/";

// The text between `before` and `after` in the index's line of a file; "" where either is not there.
inline std::string index_value(std::string_view file, std::string_view before, std::string_view after) {
  std::ifstream index(kThirdParty + "INDEX.md");
  for (std::string line; std::getline(index, line);) {
    if (!line.starts_with("- **" + std::string(file) + "**")) continue;
    const std::size_t start = line.find(before);
    if (start == std::string::npos) return "";
    const std::size_t end = line.find(after, start + before.size());
    return end == std::string::npos ? "" : line.substr(start + before.size(), end - start - before.size());
  }
  return "";
}

// What the importers make of a file with this content.
inline Result<FileContent> read_content(std::string_view content, const ImportOptions& options = {},
                                        const std::string& name = "file") {
  TemporaryFolder folder;
  std::ofstream(folder / name, std::ios::binary) << content;
  return read_file(folder / name, options);
}

}  // namespace deepgap::trace

// In a test that needs the files of other projects.
#define DEEPGAP_NEED_THIRD_PARTY()                                       \
  if (!std::ifstream(::deepgap::trace::kThirdParty + "INDEX.md").good()) \
  GTEST_SKIP() << "there is no ../shared/traces/third-party"
