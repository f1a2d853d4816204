#include "trace/utf16.h"

namespace deepgap::trace {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

void append(std::uint32_t character, std::string& text) {
  const auto part = [&](unsigned shift, unsigned mask, unsigned mark) {
    text += static_cast<char>(mark | ((character >> shift) & mask));
  };
  if (character < 0x80) {
    part(0, 0x7F, 0);
  } else if (character < 0x800) {
    part(6, 0x1F, 0xC0);
    part(0, 0x3F, 0x80);
  } else if (character < 0x10000) {
    part(12, 0x0F, 0xE0);
    part(6, 0x3F, 0x80);
    part(0, 0x3F, 0x80);
  } else {
    part(18, 0x07, 0xF0);
    part(12, 0x3F, 0x80);
    part(6, 0x3F, 0x80);
    part(0, 0x3F, 0x80);
  }
}

}  // namespace

std::optional<ByteOrder> utf16_order(std::string_view head) {
  if (head.starts_with("\xFE\xFF")) return ByteOrder::kBig;
  const bool little = head.starts_with("\xFF\xFE") && !(head.size() >= 4 && head[2] == 0 && head[3] == 0);
  return little ? std::optional(ByteOrder::kLittle) : std::nullopt;
}

void Utf16Decoder::decode(std::string_view bytes, std::string& text) {
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    if (!half_) {
      half_ = byte;
      continue;
    }
    const unsigned first = *half_;
    half_.reset();
    take(static_cast<std::uint16_t>(order_ == ByteOrder::kLittle ? first | (unsigned{byte} << 8U)
                                                                 : (first << 8U) | byte),
         text);
  }
}

void Utf16Decoder::take(std::uint16_t unit, std::string& text) {
  const bool low = unit >= 0xDC00 && unit <= 0xDFFF;
  if (high_ != 0) {
    const std::uint32_t high = high_;
    high_ = 0;
    if (low) return append(0x10000 + ((high - 0xD800) << 10U) + (unit - 0xDC00U), text);
    append(kReplacement, text);
  }
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    high_ = unit;
  } else if (low) {
    append(kReplacement, text);
  } else if (unit != 0xFEFF) {
    append(unit, text);
  }
}

}  // namespace deepgap::trace
