// Text in UTF-16, as PowerShell's `>` writes it, into UTF-8, a piece at a time.
//
//   if (const auto order = utf16_order(head)) { Utf16Decoder decoder(*order); decoder.decode(bytes, text);
//   ... }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deepgap::trace {

enum class ByteOrder { kLittle, kBig };

// By the byte order mark; nothing where there is none, or that of UTF-32.
std::optional<ByteOrder> utf16_order(std::string_view head);

class Utf16Decoder {
 public:
  explicit Utf16Decoder(ByteOrder order) : order_(order) {}

  // Appends to `text`; the byte order mark is left out, what is no character becomes U+FFFD. Pieces may be
  // cut anywhere: what a piece lacks is waited for.
  void decode(std::string_view bytes, std::string& text);

 private:
  void take(std::uint16_t unit, std::string& text);

  ByteOrder order_;
  std::optional<unsigned char> half_;  // the first byte of a unit
  std::uint16_t high_ = 0;             // the first unit of a pair; 0: none
};

}  // namespace deepgap::trace
