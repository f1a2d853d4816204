#include "trace/line_reader.h"

#include <algorithm>
#include <string_view>

namespace deepgap::trace {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

LineReader::LineReader(ByteSource& source) : source_(&source), buffer_(kBuffer) {}

Result<bool> LineReader::next(std::string& line) {
  line.clear();
  ended_ = false;
  bool any = false;
  for (;;) {
    if (at_ == end_) {
      DEEPGAP_ASSIGN(end_, source_->read(buffer_));
      at_ = 0;
      if (end_ == 0) break;
    }
    const char* const from = buffer_.data() + at_;
    const char* const to = buffer_.data() + end_;
    const char* const stop = std::find(from, to, '\n');
    const auto length = static_cast<std::size_t>(stop - from);
    line.append(from, std::min(length, kLongestLine - std::min(line.size(), kLongestLine)));
    any = true;
    at_ += length + (stop == to ? 0 : 1);
    ended_ = stop != to;
    if (ended_) break;
  }
  if (!any) return false;
  ++number_;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  return true;
}

}  // namespace deepgap::trace
