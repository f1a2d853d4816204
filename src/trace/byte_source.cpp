#include "trace/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kHeadSize = std::size_t{64} << 10;

Error cannot_read(const std::string& path, int error) {
  return bad_input(fmt::format("cannot read {}: {}", printable(path), std::system_category().message(error)));
}

}  // namespace

Result<ByteSource> ByteSource::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(path, errno);
  struct stat facts {};
  const bool is_file = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  ByteSource source(path, descriptor, facts.st_size);
  if (!is_file) return bad_input(fmt::format("expected a file at {}, found none", printable(path)));
  source.head_.resize(kHeadSize);
  std::size_t filled = 0;
  while (filled < kHeadSize) {
    DEEPGAP_ASSIGN(const std::size_t count, source.read_file(std::span(source.head_).subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  source.head_.resize(filled);
  return source;
}

ByteSource::ByteSource(ByteSource&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      head_(std::move(other.head_)),
      head_given_(other.head_given_) {}

ByteSource& ByteSource::operator=(ByteSource&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(head_, other.head_);
  std::swap(head_given_, other.head_given_);
  return *this;
}

ByteSource::~ByteSource() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::size_t> ByteSource::read(std::span<char> into) {
  if (head_given_ == head_.size()) return read_file(into);
  const std::size_t count = std::min(into.size(), head_.size() - head_given_);
  std::copy_n(head_.data() + head_given_, count, into.data());
  head_given_ += count;
  return count;
}

Result<std::size_t> ByteSource::read_file(std::span<char> into) {
  for (;;) {
    const ssize_t count = ::read(descriptor_, into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return cannot_read(path_, errno);
  }
}

}  // namespace deepgap::trace
