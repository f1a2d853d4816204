// The table of `dcgmi dmon`: columns of fixed places, named again every few rows, without times.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "trace/dcgm/dcgm.h"
#include "trace/dcgm/dcgm_row.h"
#include "trace/line_reader.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostColumns = 256;
constexpr std::size_t kShown = 40;
constexpr std::string_view kNames = "#Entity";

struct Word {
  std::string_view text;
  std::size_t at = 0;
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  constexpr std::string_view kSpace = " \t\r";
  for (std::size_t at = line.find_first_not_of(kSpace);
       at != std::string_view::npos && words.size() <= kMostColumns;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back({.text = line.substr(at, end - at), .at = at});
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source), lines_(source), log_(source.path()) {}

  Result<FileContent> read() {
    for (std::string line;;) {
      DEEPGAP_ASSIGN(const bool more, lines_.next(line));
      if (!more) break;
      DEEPGAP_RETURN_IF_ERROR(take(line));
    }
    if (const auto why = lines_.cut_off()) log_.note_cut_off(*why);
    if (!named_) {
      return bad_input(
          fmt::format("{}: expected the names of dcgmi dmon's columns ('#Entity ...'), found none",
                      printable(source_.path())));
    }
    log_.note_assumption("rows have no times: those of a device were taken to be 1 s apart, dcgmi's usual");
    return log_.finished(false);
  }

 private:
  Result<void> take(const std::string& line) {
    const std::vector<Word> words = words_of(line);
    if (words.empty()) return {};
    const std::string_view first = words.front().text;
    if (first == kNames) return take_names(words);
    // The line of units, and what a signal leaves.
    if (first == "ID" || trim(line).starts_with("dmon was stopped")) return {};
    if (!named_) {
      log_.lose_row(lines_.number(), "it stands before the names of the columns");
      return {};
    }
    // "GPU 0", "GPU-I 3", "CPU Core 7"
    std::size_t entity = 1;
    while (entity < std::min<std::size_t>(words.size(), 3) && !is_number(words[entity].text)) ++entity;
    if (entity >= words.size() || !is_number(words[entity].text)) {
      log_.lose_row(lines_.number(), fmt::format("'{}' is no device", printable(trim(line), kShown)));
      return {};
    }
    if (!lines_.ended()) {  // a number may have lost its last digits
      const bool whole = words.size() == entity + 1 + columns_.size();
      log_.note_cut_off("the last line has no end and was left out",
                        whole ? Severity::kNote : Severity::kWarning);
      return {};
    }
    const std::string_view number = words[entity].text;
    const std::string_view name = trim(std::string_view(line).substr(0, words[entity].at + number.size()));
    return add(line, words, entity + 1, first == "GPU" ? fmt::format("gpu{}", number) : std::string(name));
  }

  Result<void> take_names(const std::vector<Word>& words) {
    if (words.size() > kMostColumns) {
      return bad_input(fmt::format("{}, line {}: expected at most {} columns, found more",
                                   printable(source_.path()), lines_.number(), kMostColumns));
    }
    named_ = true;
    columns_.clear();
    for (std::size_t i = 1; i < words.size(); ++i) {
      columns_.push_back({.field = dcgm_field_of_column(words[i].text), .at = words[i].at});
      if (columns_.back().field == nullptr) log_.leave_out(printable(words[i].text, kShown));
    }
    return {};
  }

  Result<void> add(std::string_view line, const std::vector<Word>& words, std::size_t first,
                   const std::string& source) {
    std::vector<std::string_view> cells;
    if (words.size() - first == columns_.size()) {
      for (std::size_t i = first; i < words.size(); ++i) cells.push_back(words[i].text);
    } else {  // a name of several words, an empty cell: by where they stand
      cells = cells_by_place(line);
    }
    if (cells.size() != columns_.size()) {
      log_.lose_row(lines_.number(),
                    fmt::format("{} columns and not {}", words.size() - first, columns_.size()));
      return {};
    }
    DEEPGAP_ASSIGN(const std::size_t device, log_.device(source, std::vector{source}, ""));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].field != nullptr) row_.add(*columns_[i].field, cells[i], lines_.number(), log_);
    }
    return row_.finish(log_, device, log_.assumed_time(device));
  }

  // Nothing where the line is not laid out as its names are.
  std::vector<std::string_view> cells_by_place(std::string_view line) const {
    std::vector<std::string_view> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t from = columns_[i].at;
      if (from >= line.size() || line[from - 1] != ' ') return {};
      const std::size_t to = i + 1 < columns_.size() ? columns_[i + 1].at : line.size();
      cells.push_back(trim(line.substr(from, to - from)));
    }
    return cells;
  }

  struct Column {
    const DcgmField* field = nullptr;  // null: not one of ours
    std::size_t at = 0;
  };

  ByteSource& source_;
  LineReader lines_;
  SensorLog log_;
  bool named_ = false;
  std::vector<Column> columns_;
  DcgmRow row_;
};

}  // namespace

Result<FileContent> read_dcgmi_dmon(ByteSource& source) {
  return Reader(source).read();
}

}  // namespace deepgap::trace
