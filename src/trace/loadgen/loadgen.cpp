#include "trace/loadgen/loadgen.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "trace/line_reader.h"
#include "trace/loadgen/loadgen_run.h"

namespace deepgap::trace {
namespace {

constexpr std::string_view kTitle = "MLPerf Results Summary";
constexpr std::string_view kLogMark = ":::MLLOG ";

// "3" of "3 ERRORS encountered. See detailed log."; 0 of "No errors encountered during test."
std::int64_t count_at_front(std::string_view line) {
  std::int64_t count = 0;
  std::from_chars(line.data(), line.data() + line.size(), count);
  return std::max<std::int64_t>(count, 0);
}

void note_cut(FileContent& content, const LineReader& lines, bool complete, const char* expected) {
  if (const auto fault = lines.cut_off()) {
    content.diagnostics.push_back(diagnose(diagnostics::kFileCutOff, "", *fault));
  } else if (!complete) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kFileCutOff, "", fmt::format("expected {} at its end, found none", expected)));
  }
}

Result<FileContent> read_summary(ByteSource& source, const ImportOptions& options, std::string_view format) {
  FileContent content;
  LoadgenRun run;
  LineReader lines(source);
  bool complete = false;
  for (std::string line;;) {
    DEEPGAP_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (line.find(" encountered") != std::string::npos) {
      const bool errors = line.find("rror") != std::string::npos || line.find("ERROR") != std::string::npos;
      if (errors) {
        run.add_errors(count_at_front(line));
        complete = true;
      } else {
        run.add_warnings(count_at_front(line));
      }
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    run.take(std::string_view(line).substr(0, colon), std::string_view(line).substr(colon + 1));
  }
  run.into(content, source, options, format);
  note_cut(content, lines, complete, "what it says of errors");
  return content;
}

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// {"key": "result_validity", "value": "VALID", "metadata": {"is_error": false, "is_warning": false, ...},
// ...}
bool take_entry(std::string_view text, LoadgenRun& run) {
  const nlohmann::json entry = nlohmann::json::parse(text, nullptr, false);
  if (!entry.is_object() || !entry.contains("key") || !entry["key"].is_string() || !entry.contains("value"))
    return false;
  run.take(entry["key"].get<std::string>(), text_of(entry["value"]));
  const auto flag = [&entry](const char* name) {
    const auto metadata = entry.find("metadata");
    if (metadata == entry.end() || !metadata->is_object()) return false;
    const auto found = metadata->find(name);
    return found != metadata->end() && found->is_boolean() && found->get<bool>();
  };
  if (flag("is_error")) run.add_errors(1);
  if (flag("is_warning")) run.add_warnings(1);
  return true;
}

// "pid": 1, "tid": 1, "ts": 20ns : Scenario : Offline
bool take_old_entry(std::string_view line, LoadgenRun& run) {
  const std::size_t start = line.find("ns : ");
  if (start == std::string_view::npos) return false;
  const std::string_view message = line.substr(start + 5);
  const std::size_t colon = message.rfind(" : ");
  if (colon != std::string_view::npos) run.take(message.substr(0, colon), message.substr(colon + 3));
  return true;
}

Result<FileContent> read_detail(ByteSource& source, const ImportOptions& options, std::string_view format) {
  FileContent content;
  LoadgenRun run;
  LineReader lines(source);
  std::int64_t damaged = 0;
  bool complete = false;
  for (std::string line;;) {
    DEEPGAP_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    complete = complete || text.find("result_validity") != std::string_view::npos;
    const std::size_t mark = text.find(kLogMark);
    const bool taken = mark == std::string_view::npos ? take_old_entry(text, run)
                                                      : take_entry(text.substr(mark + kLogMark.size()), run);
    if (!taken) ++damaged;
  }
  run.into(content, source, options, format);
  if (damaged > 0) {
    content.diagnostics.push_back(diagnose(
        diagnostics::kEventsLost, "", fmt::format("{} lines are no entries of the log", damaged), damaged));
  }
  note_cut(content, lines, complete || content.measurements.empty(), "whether the run is valid");
  return content;
}

class Summary final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "loadgen-summary",
        .title = "MLPerf LoadGen's mlperf_log_summary.txt",
        .content = "scenario, validity, throughput, percentiles of latency, targets",
        .basis = "real files of rounds 0.7 and 3.0; multi-stream and accuracy runs from its source",
    };
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    if (head.find(kTitle) != std::string_view::npos && head.find("SUT name") != std::string_view::npos) {
      return Match::kSurely;
    }
    // What a run for accuracy leaves.
    return head.size() < 1000 && head.find("encountered during test.") != std::string_view::npos
               ? Match::kPerhaps
               : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return read_summary(source, options, format().id);
  }
};

class Detail final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "loadgen-detail",
        .title = "MLPerf LoadGen's mlperf_log_detail.txt",
        .content =
            "scenario, validity, throughput, percentiles of latency, targets, time, errors and warnings",
        .basis = "a real file of round 3.0; the form before it, which has no figures, from its source",
    };
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const std::string_view line = trim(head.substr(0, head.find('\n')));
    if (line.starts_with(kLogMark) && line.find("\"key\"") != std::string_view::npos) return Match::kSurely;
    const bool old = line.starts_with("\"pid\":") && line.find("\"ts\":") != std::string_view::npos &&
                     line.find("ns : ") != std::string_view::npos;
    return old ? Match::kSurely : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return read_detail(source, options, format().id);
  }
};

}  // namespace

const Importer& loadgen_summary_importer() {
  static const Summary importer;
  return importer;
}

const Importer& loadgen_detail_importer() {
  static const Detail importer;
  return importer;
}

}  // namespace deepgap::trace
