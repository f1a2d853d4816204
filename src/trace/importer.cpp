#include "trace/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "trace/dcgm/dcgm.h"
#include "trace/kineto/kineto.h"
#include "trace/nvidia_smi/dmon.h"
#include "trace/nvidia_smi/nvidia_smi_csv.h"
#include "trace/study_csv/study_csv.h"

namespace deepgap::trace {
namespace {

std::string looks_of(const ByteSource& source) {
  constexpr std::size_t kShown = 60;
  const std::string_view head = source.head();
  if (head.empty()) return "an empty file";
  if (head.find('\0') != std::string_view::npos)
    return fmt::format("a binary file of {} bytes", source.size());
  const std::string_view line = head.substr(0, std::min(head.find_first_of("\r\n"), kShown));
  return fmt::format("text that begins with '{}'", printable(line));
}

}  // namespace

std::span<const Importer* const> importers() {
  static const std::array<const Importer*, 5> all{&dcgm_importer(), &kineto_importer(),
                                                  &nvidia_smi_csv_importer(), &nvidia_smi_dmon_importer(),
                                                  &study_csv_importer()};
  return all;
}

Result<const Importer*> importer_of(const ByteSource& source) {
  const Importer* best = nullptr;
  Match match = Match::kNo;
  std::vector<std::string> known;
  for (const Importer* importer : importers()) {
    known.emplace_back(importer->format().id);
    const Match found = importer->sniff(source.head(), source.size());
    if (found > match) {
      best = importer;
      match = found;
    }
  }
  if (best != nullptr) return best;
  return bad_input(fmt::format("{}: expected a file of a format that `deepgap formats` lists ({}), found {}",
                               printable(source.path()), join(known, ", "), looks_of(source)));
}

Result<FileContent> read_file(const std::string& path, const ImportOptions& options) {
  DEEPGAP_ASSIGN(ByteSource source, ByteSource::open(path));
  DEEPGAP_ASSIGN(const Importer* const importer, importer_of(source));
  DEEPGAP_ASSIGN(FileContent content, importer->import(source, options));
  content.format = importer->format().id;
  return content;
}

}  // namespace deepgap::trace
