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

Result<std::size_t> read_file(const std::string& path, int descriptor, std::span<char> into) {
  for (;;) {
    const ssize_t count = ::read(descriptor, into.data(), into.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return cannot_read(path, errno);
  }
}

}  // namespace

Result<ByteSource> ByteSource::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(path, errno);
  struct stat facts {};
  const bool is_file = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
  ByteSource source(path, descriptor, facts.st_size);
  if (!is_file) return bad_input(fmt::format("expected a file at {}, found none", printable(path)));
  DEEPGAP_RETURN_IF_ERROR(source.read_head());
  source.packing_ = packing_of(source.head_);
  if (source.packing_ == Packing::kNone) {
    if (const auto order = utf16_order(source.head_)) source.decode_from(*order);
    return source;
  }
  source.unpacker_ = std::make_unique<Unpacker>(
      source.packing_,
      [path, descriptor, packed = std::exchange(source.head_, {}),
       given = std::size_t{0}](std::span<char> into) mutable -> Result<std::size_t> {
        if (given == packed.size()) return read_file(path, descriptor, into);
        const std::size_t count = std::min(into.size(), packed.size() - given);
        std::copy_n(packed.data() + given, count, into.data());
        given += count;
        return count;
      });
  DEEPGAP_RETURN_IF_ERROR(source.read_head());
  if (const auto order = utf16_order(source.head_)) source.decode_from(*order);
  return source;
}

void ByteSource::decode_from(ByteOrder order) {
  decoder_ = std::make_unique<Utf16Decoder>(order);
  const std::string raw = std::exchange(head_, {});
  decoder_->decode(raw, head_);
}

Result<void> ByteSource::read_head() {
  std::size_t filled = 0;
  head_.resize(kHeadSize);
  while (filled < kHeadSize) {
    DEEPGAP_ASSIGN(const std::size_t count, read_behind_head(std::span(head_).subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  head_.resize(filled);
  reads_ahead_ = unpacker_ != nullptr && filled == kHeadSize;
  return {};
}

ByteSource::ByteSource(ByteSource&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      packing_(other.packing_),
      unpacker_(std::move(other.unpacker_)),
      reads_ahead_(other.reads_ahead_),
      ahead_(std::move(other.ahead_)),
      decoder_(std::move(other.decoder_)),
      decoded_(std::move(other.decoded_)),
      decoded_given_(other.decoded_given_),
      head_(std::move(other.head_)),
      head_given_(other.head_given_) {}

ByteSource& ByteSource::operator=(ByteSource&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(packing_, other.packing_);
  std::swap(unpacker_, other.unpacker_);
  std::swap(reads_ahead_, other.reads_ahead_);
  std::swap(ahead_, other.ahead_);
  std::swap(decoder_, other.decoder_);
  std::swap(decoded_, other.decoded_);
  std::swap(decoded_given_, other.decoded_given_);
  std::swap(head_, other.head_);
  std::swap(head_given_, other.head_given_);
  return *this;
}

ByteSource::~ByteSource() {
  ahead_.reset();  // it reads from what goes next
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::size_t> ByteSource::read(std::span<char> into) {
  if (head_given_ == head_.size()) return read_behind_head(into);
  const std::size_t count = std::min(into.size(), head_.size() - head_given_);
  std::copy_n(head_.data() + head_given_, count, into.data());
  head_given_ += count;
  return count;
}

Result<std::size_t> ByteSource::read_behind_head(std::span<char> into) {
  if (!decoder_) return read_unpacked(into);
  while (decoded_given_ == decoded_.size()) {
    std::string raw(kHeadSize, '\0');
    DEEPGAP_ASSIGN(const std::size_t count, read_unpacked(raw));
    if (count == 0) return 0;
    decoded_.clear();
    decoded_given_ = 0;
    decoder_->decode(std::string_view(raw).substr(0, count), decoded_);
  }
  const std::size_t count = std::min(into.size(), decoded_.size() - decoded_given_);
  std::copy_n(decoded_.data() + decoded_given_, count, into.data());
  decoded_given_ += count;
  return count;
}

Result<std::size_t> ByteSource::read_unpacked(std::span<char> into) {
  if (!unpacker_) return read_file(path_, descriptor_, into);
  if (!reads_ahead_) return unpacker_->read(into);
  if (!ahead_) {
    ahead_ = std::make_unique<ReadAhead>(
        [unpacker = unpacker_.get()](std::span<char> room) { return unpacker->read(room); });
  }
  return ahead_->read(into);
}

std::optional<std::string> ByteSource::fault() const {
  if (!unpacker_ || (ahead_ && !ahead_->ended())) return std::nullopt;
  return unpacker_->fault();
}

}  // namespace deepgap::trace
