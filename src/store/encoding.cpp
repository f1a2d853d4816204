#include "store/encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace deepgap::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the encodings are little-endian");

enum class Encoding : unsigned char {
  kUnsigned4 = 1,
  kSigned8 = 2,
  kDifferences4 = 3,
  kReal4 = 4,
  kReal8 = 5,
};

constexpr std::int64_t kUnsigned4Max = std::numeric_limits<std::uint32_t>::max();

// The difference, or -1 where it does not fit 4 bytes without sign. Unsigned arithmetic: any two values may
// come.
std::int64_t difference4(std::int64_t before, std::int64_t after) {
  if (after < before) return -1;
  const std::uint64_t difference = static_cast<std::uint64_t>(after) - static_cast<std::uint64_t>(before);
  return difference <= static_cast<std::uint64_t>(kUnsigned4Max) ? static_cast<std::int64_t>(difference) : -1;
}

std::string with_header(Encoding encoding, std::size_t bytes) {
  std::string blob(1 + bytes, '\0');
  blob[0] = static_cast<char>(encoding);
  return blob;
}

template <typename Stored>
void store_at(std::string& blob, std::size_t offset, Stored value) {
  std::memcpy(blob.data() + offset, &value, sizeof value);
}

template <typename Stored, typename Value>
std::string encode_plain(Encoding encoding, std::span<const Value> values) {
  std::string blob = with_header(encoding, values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    store_at(blob, 1 + i * sizeof(Stored), static_cast<Stored>(values[i]));
  }
  return blob;
}

template <typename Stored, typename Value>
void decode_plain(const std::byte* data, std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, data + i * sizeof(Stored), sizeof stored);
    values[i] = static_cast<Value>(stored);
  }
}

Error wrong_encoding(std::byte header, std::string_view wanted) {
  return bad_input(fmt::format("expected {}, found encoding {}", wanted, static_cast<int>(header)));
}

Result<void> check_count(std::span<const std::byte> blob, std::size_t count) {
  DEEPGAP_ASSIGN(const std::size_t found, encoded_count(blob));
  if (found != count) {
    return bad_input(
        fmt::format("expected {} numbers, found {} in a column of {} bytes", count, found, blob.size()));
  }
  return {};
}

}  // namespace

std::string encode_integers(std::span<const std::int64_t> values) {
  if (std::all_of(values.begin(), values.end(),
                  [](std::int64_t v) { return v >= 0 && v <= kUnsigned4Max; })) {
    return encode_plain<std::uint32_t>(Encoding::kUnsigned4, values);
  }
  bool differences_fit = values.size() > 1;
  for (std::size_t i = 1; i < values.size() && differences_fit; ++i) {
    differences_fit = difference4(values[i - 1], values[i]) >= 0;
  }
  if (!differences_fit) return encode_plain<std::int64_t>(Encoding::kSigned8, values);

  std::string blob = with_header(Encoding::kDifferences4, 8 + (values.size() - 1) * 4);
  store_at(blob, 1, values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    store_at(blob, 9 + (i - 1) * 4, static_cast<std::uint32_t>(difference4(values[i - 1], values[i])));
  }
  return blob;
}

std::string encode_reals(std::span<const double> values) {
  // Compared as bits, so that a NaN survives; the range first, because a conversion beyond it is undefined.
  const auto fits = [](double value) {
    if (value != value) return false;
    if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) return false;
    return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(value))) ==
           std::bit_cast<std::uint64_t>(value);
  };
  if (std::all_of(values.begin(), values.end(), fits)) return encode_plain<float>(Encoding::kReal4, values);
  return encode_plain<double>(Encoding::kReal8, values);
}

Result<std::size_t> encoded_count(std::span<const std::byte> blob) {
  if (blob.empty()) return bad_input("expected an encoded column, found no bytes");
  std::size_t width = 4;
  std::size_t head = 0;
  switch (static_cast<Encoding>(blob[0])) {
    case Encoding::kUnsigned4:
    case Encoding::kReal4:
      break;
    case Encoding::kSigned8:
    case Encoding::kReal8:
      width = 8;
      break;
    case Encoding::kDifferences4:
      head = 8;
      break;
    default:
      return wrong_encoding(blob[0], "an encoding from 1 to 5");
  }
  const std::size_t size = blob.size() - 1;
  if (size < head || (size - head) % width != 0) {
    return bad_input(fmt::format("expected whole numbers of {} bytes, found {} bytes in encoding {}", width,
                                 size, static_cast<int>(blob[0])));
  }
  return (size - head) / width + (head != 0 ? 1 : 0);
}

Result<void> decode_integers(std::span<const std::byte> blob, std::size_t count,
                             std::vector<std::int64_t>& values) {
  DEEPGAP_RETURN_IF_ERROR(check_count(blob, count));
  values.resize(count);
  const std::byte* data = blob.data() + 1;
  switch (static_cast<Encoding>(blob[0])) {
    case Encoding::kUnsigned4:
      decode_plain<std::uint32_t>(data, values);
      return {};
    case Encoding::kSigned8:
      decode_plain<std::int64_t>(data, values);
      return {};
    case Encoding::kDifferences4: {
      // Unsigned, so that a damaged blob wraps instead of overflowing.
      std::uint64_t value = 0;
      std::memcpy(&value, data, 8);
      values[0] = static_cast<std::int64_t>(value);
      for (std::size_t i = 1; i < count; ++i) {
        std::uint32_t difference = 0;
        std::memcpy(&difference, data + 8 + (i - 1) * 4, 4);
        value += difference;
        values[i] = static_cast<std::int64_t>(value);
      }
      return {};
    }
    default:
      return wrong_encoding(blob[0], "integers");
  }
}

Result<void> decode_reals(std::span<const std::byte> blob, std::size_t count, std::vector<double>& values) {
  DEEPGAP_RETURN_IF_ERROR(check_count(blob, count));
  values.resize(count);
  switch (static_cast<Encoding>(blob[0])) {
    case Encoding::kReal4:
      decode_plain<float>(blob.data() + 1, values);
      return {};
    case Encoding::kReal8:
      decode_plain<double>(blob.data() + 1, values);
      return {};
    default:
      return wrong_encoding(blob[0], "real numbers");
  }
}

}  // namespace deepgap::store
