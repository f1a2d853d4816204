#include "trace/unpack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

namespace deepgap::trace {
namespace {

constexpr std::size_t kPackedChunk = std::size_t{64} << 10;
// zlib: the largest window, and a gzip header rather than zlib's own.
constexpr int kGzipWindow = 15 + 16;

}  // namespace

struct Unpacker::Gzip {
  Gzip() { inflateInit2(&stream, kGzipWindow); }
  ~Gzip() { inflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  z_stream stream{};
  bool in_member = true;
};

struct Unpacker::Zstd {
  Zstd() : stream(ZSTD_createDStream()) {}
  ~Zstd() { ZSTD_freeDStream(stream); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  ZSTD_DStream* stream;
  bool in_frame = true;
  bool holds_text = false;  // the last piece filled its room: there may be more without further input
};

Packing packing_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Packing::kGzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packing::kZstd;
  return Packing::kNone;
}

Unpacker::Unpacker(Packing packing, Input input) : input_(std::move(input)), packed_(kPackedChunk, '\0') {
  if (packing == Packing::kZstd) {
    zstd_ = std::make_unique<Zstd>();
  } else {
    gzip_ = std::make_unique<Gzip>();
  }
}

Unpacker::~Unpacker() = default;

// Whether there are packed bytes to go on with.
Result<bool> Unpacker::refill() {
  if (at_ < end_) return true;
  if (ended_) return false;
  at_ = 0;
  DEEPGAP_ASSIGN(end_, input_(packed_));
  ended_ = end_ == 0;
  return !ended_;
}

Result<std::size_t> Unpacker::read(std::span<char> into) {
  if (fault_) return std::size_t{0};
  return gzip_ ? read_gzip(into) : read_zstd(into);
}

Result<std::size_t> Unpacker::read_gzip(std::span<char> into) {
  z_stream& stream = gzip_->stream;
  const std::size_t room = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(room);
  while (stream.avail_out == room) {
    DEEPGAP_ASSIGN(const bool more, refill());
    if (!more) {
      if (gzip_->in_member) fault_ = "the gzip stream is cut off";
      break;
    }
    if (!gzip_->in_member) {
      // Behind a member: another one, or padding that belongs to nothing.
      if (packed_[at_] == '\0') {
        ++at_;
        continue;
      }
      inflateReset(&stream);
      gzip_->in_member = true;
    }
    stream.next_in = reinterpret_cast<Bytef*>(packed_.data() + at_);
    stream.avail_in = static_cast<uInt>(end_ - at_);
    const int code = inflate(&stream, Z_NO_FLUSH);
    at_ = end_ - stream.avail_in;
    if (code == Z_STREAM_END) {
      gzip_->in_member = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fault_ = std::string("the gzip stream is damaged: ") +
               (stream.msg != nullptr ? stream.msg : "no reason is given");
      break;
    }
  }
  return room - stream.avail_out;
}

Result<std::size_t> Unpacker::read_zstd(std::span<char> into) {
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  while (out.pos == 0) {
    if (at_ == end_ && !zstd_->holds_text) {
      DEEPGAP_ASSIGN(const bool more, refill());
      if (!more) {
        if (zstd_->in_frame) fault_ = "the zstd stream is cut off";
        break;
      }
    }
    ZSTD_inBuffer in{packed_.data(), end_, at_};
    const std::size_t code = ZSTD_decompressStream(zstd_->stream, &out, &in);
    at_ = in.pos;
    if (ZSTD_isError(code) != 0) {
      fault_ = std::string("the zstd stream is damaged: ") + ZSTD_getErrorName(code);
      break;
    }
    zstd_->in_frame = code != 0;
    zstd_->holds_text = zstd_->in_frame && out.pos == out.size;
  }
  return out.pos;
}

}  // namespace deepgap::trace
