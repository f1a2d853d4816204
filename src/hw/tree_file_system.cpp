#include "hw/tree_file_system.h"

#include <fmt/format.h>

#include "base/text.h"
#include "hw/kernel_text.h"

namespace deepgap::hw {
namespace {

constexpr std::string_view kFirstLine = "deepgap-root 1";

}  // namespace

Result<TreeFileSystem> TreeFileSystem::parse(std::string_view text) {
  const auto lines = lines_of(text);
  if (lines.empty() || trim(lines.front()) != kFirstLine) {
    return bad_input(
        fmt::format("expected a captured root, whose first line is '{}', found '{}': make one with "
                    "scripts/capture-root.sh",
                    kFirstLine, lines.empty() ? "" : printable(lines.front(), 60)));
  }
  TreeFileSystem tree;
  std::string folder;
  std::string open_path;  // of the file whose "|" lines follow
  for (std::size_t number = 2; number <= lines.size(); ++number) {
    const std::string_view line = lines[number - 1];
    const auto wrong = [&](std::string_view why) {
      return bad_input(
          fmt::format("line {} of the captured root: {}, found '{}'", number, why, printable(line, 60)));
    };
    if (line.starts_with('|')) {
      if (open_path.empty()) return wrong("a line with '|' follows only on 'name:'");
      tree.files_[open_path].append(line.substr(1)).push_back('\n');
      continue;
    }
    open_path.clear();
    if (trim(line).empty() || line.starts_with('#') || line.starts_with(';')) continue;
    if (line.starts_with('[')) {
      if (!line.ends_with(']') || line.size() < 3 || line[1] != '/') return wrong("expected '[/a/folder]'");
      folder = line.substr(1, line.size() - 2);
      if (folder == "/") folder.clear();
      continue;
    }
    const std::size_t equals = line.find(" =");
    if (equals != std::string_view::npos) {
      const std::string_view value = line.substr(equals + 2);
      tree.files_[fmt::format("{}/{}", folder, line.substr(0, equals))] =
          value.empty() ? std::string() : std::string(value.substr(1)) + '\n';
    } else if (line.ends_with(':')) {
      open_path = fmt::format("{}/{}", folder, line.substr(0, line.size() - 1));
      tree.files_[open_path];
    } else {
      return wrong("expected '[/a/folder]', 'name = value' or 'name:'");
    }
  }
  return tree;
}

Result<std::string> TreeFileSystem::read(const std::string& path) const {
  const auto found = files_.find(path);
  if (found == files_.end())
    return bad_input(fmt::format("cannot read '{}': it is not in the captured root", path));
  return found->second;
}

std::vector<std::string> TreeFileSystem::list(const std::string& path) const {
  const std::string prefix = path.ends_with('/') ? path : path + '/';
  std::vector<std::string> names;
  for (auto file = files_.lower_bound(prefix); file != files_.end() && file->first.starts_with(prefix);
       ++file) {
    std::string name = file->first.substr(prefix.size());
    name = name.substr(0, name.find('/'));
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return names;
}

bool TreeFileSystem::exists(const std::string& path) const {
  if (files_.contains(path)) return true;
  const std::string prefix = path.ends_with('/') ? path : path + '/';
  const auto file = files_.lower_bound(prefix);
  return file != files_.end() && file->first.starts_with(prefix);
}

}  // namespace deepgap::hw
