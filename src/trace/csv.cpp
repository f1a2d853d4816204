#include "trace/csv.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

enum class State { kFieldStart, kPlain, kQuoted, kQuoteInQuoted, kCarriageReturn };

}  // namespace

CsvReader::CsvReader(ByteSource& source) : source_(&source), buffer_(kBuffer) {}

Error CsvReader::fault(const std::string& what) const {
  return bad_input(fmt::format("{}, line {}: {}", printable(source_->path()), line_, what));
}

Result<std::optional<char>> CsvReader::take() {
  if (at_ == end_) {
    DEEPGAP_ASSIGN(end_, source_->read(buffer_));
    at_ = 0;
    if (end_ == 0) {
      if (const auto broken = source_->fault()) {
        return fault(*broken + ": copy or compress the file again");
      }
      return std::optional<char>();
    }
    if (!begun_ && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark))
      at_ = kByteOrderMark.size();
    begun_ = true;
    if (at_ == end_) return take();
  }
  return std::optional<char>(buffer_[at_++]);
}

Result<bool> CsvReader::next(std::vector<std::string>& fields) {
  fields.clear();
  std::string field;
  State state = State::kFieldStart;
  std::size_t length = 0;
  record_line_ = line_;
  const auto end_field = [&] {
    fields.push_back(std::move(field));
    field.clear();
    state = State::kFieldStart;
  };
  const auto is_empty_line = [&] { return fields.empty() && field.empty() && state == State::kFieldStart; };
  for (;;) {
    DEEPGAP_ASSIGN(const std::optional<char> taken, take());
    if (!taken) {
      if (state == State::kQuoted)
        return bad_input(
            fmt::format("{}: the quote opened in the record of line {} is never closed: the file is cut off",
                        printable(source_->path()), record_line_));
      if (length == 0) return false;
      if (state == State::kCarriageReturn)
        return fault("expected a line feed behind the carriage return, found the end");
      end_field();
      return true;
    }
    const char c = *taken;
    if (++length > kLongestRecord)
      return fault(
          fmt::format("the record is longer than {} bytes: no table of results has such", kLongestRecord));
    if (c == '\0') return fault("found a NUL byte: expected text");
    if (state == State::kQuoted) {
      if (c == '\n') ++line_;
      if (c == '"')
        state = State::kQuoteInQuoted;
      else
        field += c;
      continue;
    }
    if (state == State::kCarriageReturn && c != '\n')
      return fault("expected a line feed behind the carriage return");
    switch (c) {
      case '"':
        if (state == State::kPlain) return fault("a quote inside a field that does not begin with one");
        if (state == State::kQuoteInQuoted) field += c;
        state = State::kQuoted;
        break;
      case ',':
        end_field();
        break;
      case '\r':
        if (is_empty_line()) {
          --length;
          break;
        }
        state = State::kCarriageReturn;
        break;
      case '\n':
        ++line_;
        if (is_empty_line()) {
          length = 0;
          record_line_ = line_;
          break;
        }
        end_field();
        return true;
      default:
        if (state == State::kQuoteInQuoted) return fault("text behind the closing quote of a field");
        state = State::kPlain;
        field += c;
    }
  }
}

std::optional<std::vector<std::string>> csv_fields(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    std::string& field = fields.emplace_back();
    if (line.starts_with('"')) {
      for (line.remove_prefix(1);;) {
        const std::size_t quote = line.find('"');
        if (quote == std::string_view::npos) return std::nullopt;
        field += line.substr(0, quote);
        line.remove_prefix(quote + 1);
        if (!line.starts_with('"')) break;
        field += '"';
        line.remove_prefix(1);
      }
    } else {
      field = line.substr(0, line.find(','));
      if (field.find('"') != std::string::npos) return std::nullopt;
      line.remove_prefix(field.size());
    }
    if (line.empty()) return fields;
    if (!line.starts_with(',')) return std::nullopt;
    line.remove_prefix(1);
  }
}

}  // namespace deepgap::trace
