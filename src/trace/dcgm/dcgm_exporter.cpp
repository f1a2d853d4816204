// The text that dcgm-exporter gives Prometheus: a line a field and device, several answers one after another
// in a file where a script asked again and again.

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/text.h"
#include "base/time_text.h"
#include "trace/dcgm/dcgm.h"
#include "trace/dcgm/dcgm_row.h"
#include "trace/line_reader.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kShown = 60;
constexpr std::size_t kMostSamples = 4096;  // of a device at one moment

// A line of Prometheus' text format: NAME{LABEL="VALUE",...} NUMBER [TIME].
struct Sample {
  std::string_view name;
  std::string_view labels;  // all of them, as they are written
  std::string_view value;
  std::string_view time;  // "" without one
  // Of the device; "" for what is not there.
  std::string gpu, uuid, model, instance, driver;
};

// Takes a line apart from its front.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  std::string_view word(std::string_view until) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(until));
    rest_.remove_prefix(found.size());
    return found;
  }
  bool take(char c) {
    rest_ = trim(rest_);
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A quoted text without its quotes and escapes; nothing where it has no end.
  std::optional<std::string> quoted() {
    if (!take('"')) return std::nullopt;
    std::string text;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] == '\\' && ++i < rest_.size() && rest_[i] == 'n')
        text += '\n';
      else if (i < rest_.size())
        text += rest_[i];
    }
    return std::nullopt;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool take_label(Line& line, Sample& sample) {
  const std::string name(trim(line.word("=")));
  if (!line.take('=')) return false;
  std::optional<std::string> value = line.quoted();
  if (!value) return false;
  if (name == "gpu")
    sample.gpu = std::move(*value);
  else if (name == "UUID" || name == "uuid")
    sample.uuid = std::move(*value);
  else if (name == "modelName")
    sample.model = std::move(*value);
  else if (name == "GPU_I_ID")
    sample.instance = std::move(*value);
  else if (name == "DCGM_FI_DRIVER_VERSION")
    sample.driver = std::move(*value);
  return true;
}

std::optional<Sample> sample_of(std::string_view text) {
  Sample sample;
  Line line(text);
  sample.name = line.word("{ \t");
  const std::string_view behind = line.rest();
  if (line.take('{')) {
    while (!line.take('}')) {
      if (!take_label(line, sample)) return std::nullopt;
      line.take(',');
    }
  }
  sample.labels = behind.substr(0, behind.size() - line.rest().size());
  line = Line(trim(line.rest()));
  sample.value = line.word(" \t");
  sample.time = trim(line.rest());
  if (sample.name.empty() || sample.value.empty()) return std::nullopt;
  return sample;
}

class Reader {
 public:
  explicit Reader(ByteSource& source) : lines_(source), log_(source.path()) {}

  Result<FileContent> read() {
    for (std::string line;;) {
      DEEPGAP_ASSIGN(const bool more, lines_.next(line));
      if (!more) break;
      const std::string_view text = trim(line);
      if (!text.empty() && !text.starts_with('#')) DEEPGAP_RETURN_IF_ERROR(take(text));
    }
    for (std::size_t device = 0; device < rows_.size(); ++device) DEEPGAP_RETURN_IF_ERROR(finish(device));
    if (const auto why = lines_.cut_off()) log_.note_cut_off(*why);
    if (!has_times_.value_or(true))
      log_.note_assumption(
          "samples have no times: what was asked one after another was taken to be 1 s apart");
    return log_.finished(has_times_.value_or(true));
  }

 private:
  // What is known of a device since its fields last came again.
  struct Row {
    DcgmRow readings;
    std::unordered_set<std::size_t> samples;  // hashes of names with labels
    std::unordered_set<const DcgmField*> fields;
    std::optional<std::int64_t> at_ns;
  };

  Result<void> take(std::string_view text) {
    if (!lines_.ended()) {  // a number may have lost its last digits
      log_.note_cut_off("the last line has no end and was left out", Severity::kNote);
      return {};
    }
    const std::optional<Sample> sample = sample_of(text);
    if (!sample) {
      log_.lose_row(lines_.number(), fmt::format("'{}' is no sample", printable(text, kShown)));
      return {};
    }
    const DcgmField* const field = dcgm_field_of_metric(sample->name);
    if (field == nullptr) {
      log_.leave_out(printable(sample->name, kShown));
      return {};
    }
    std::optional<std::int64_t> at_ns;
    if (!sample->time.empty()) at_ns = parse_time(sample->time);
    if (at_ns.has_value() == sample->time.empty() ||
        has_times_.value_or(at_ns.has_value()) != at_ns.has_value()) {
      log_.lose_row(lines_.number(), sample->time.empty()
                                         ? "it has no time as others have"
                                         : fmt::format("'{}' is no time, or others have none",
                                                       printable(sample->time, kShown)));
      return {};
    }
    has_times_ = at_ns.has_value();
    return add(*sample, *field, at_ns);
  }

  Result<void> add(const Sample& sample, const DcgmField& field, std::optional<std::int64_t> at_ns) {
    std::vector<std::string> sources;
    const std::string suffix = sample.instance.empty() ? "" : " instance " + sample.instance;
    if (!sample.gpu.empty()) sources.push_back("gpu" + sample.gpu + suffix);
    if (!sample.uuid.empty()) sources.push_back(sample.uuid + suffix);
    if (sources.empty()) sources.emplace_back("gpu");
    DEEPGAP_ASSIGN(
        const std::size_t device,
        log_.device(sample.gpu + '\x1f' + sample.uuid + '\x1f' + sample.instance, sources, sample.model));
    if (!sample.driver.empty()) log_.add_fact(device, "driver_version", sample.driver);
    rows_.resize(std::max(rows_.size(), device + 1));
    const std::size_t hash =
        std::hash<std::string_view>()(sample.name) * 31 + std::hash<std::string_view>()(sample.labels);
    const Row& before = rows_[device];
    if (before.samples.contains(hash) || before.samples.size() >= kMostSamples || before.at_ns != at_ns) {
      DEEPGAP_RETURN_IF_ERROR(finish(device));
    }
    Row& row = rows_[device];
    row.at_ns = at_ns;
    row.samples.insert(hash);
    // Pods that share a device each have its value.
    if (row.fields.insert(&field).second) row.readings.add(field, sample.value, lines_.number(), log_);
    return {};
  }

  Result<void> finish(std::size_t device) {
    Row& row = rows_[device];
    if (row.samples.empty()) return {};
    row.samples.clear();
    row.fields.clear();
    return row.readings.finish(log_, device, row.at_ns ? *row.at_ns : log_.assumed_time(device));
  }

  LineReader lines_;
  SensorLog log_;
  std::vector<Row> rows_;  // by device
  std::optional<bool> has_times_;
};

}  // namespace

Result<FileContent> read_dcgm_exporter(ByteSource& source) {
  return Reader(source).read();
}

}  // namespace deepgap::trace
