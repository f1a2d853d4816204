#include "trace/object_lists.h"

#include <limits>

namespace deepgap::trace {
namespace {

constexpr std::size_t kBuffer = std::size_t{64} << 10;
constexpr std::size_t kLargestObject = std::size_t{1} << 20;

}  // namespace

Result<std::optional<char>> ObjectLists::take() {
  if (at_ == end_) {
    buffer_.resize(kBuffer);
    DEEPGAP_ASSIGN(end_, source_->read(buffer_));
    at_ = 0;
    if (end_ == 0) return std::optional<char>();
  }
  return std::optional<char>(buffer_[at_++]);
}

Result<bool> ObjectLists::next(std::string& object) {
  object.clear();
  bool in_text = false;
  bool escaped = false;
  bool in_object = false;
  for (;;) {
    DEEPGAP_ASSIGN(const std::optional<char> taken, take());
    if (!taken) {
      open_ = depth_ > 0;
      return false;
    }
    const char c = *taken;
    if (in_object && object.size() <= kLargestObject) object += c;
    if (in_text) {
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '"') {
        in_text = false;
      }
      continue;
    }
    if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (depth_ == 0) {
        in_list_ = c == '[';
        if (in_list_ && list_ < std::numeric_limits<int>::max()) ++list_;
      }
      if (depth_ == 1 && in_list_ && c == '{') {
        in_object = true;
        object = "{";
      }
      if (depth_ < std::numeric_limits<int>::max()) ++depth_;
    } else if (c == ']' || c == '}') {
      if (depth_ > 0) --depth_;
      if (!in_object || depth_ != 1) continue;
      if (object.size() <= kLargestObject) return true;
      ++too_large_;
      in_object = false;
      object.clear();
    }
  }
}

}  // namespace deepgap::trace
