// Columns of numbers as blobs, in the least bytes of a few simple encodings. Private to the module.
//
// The first byte says which encoding; numbers follow, little-endian, without padding (docs/store.md for
// readers):
//   1  each an unsigned 4-byte integer
//   2  each a signed 8-byte integer
//   3  the first a signed 8-byte integer, then the differences to the one before, each an unsigned 4-byte
//   integer 4  each a 4-byte IEEE number, where that loses nothing 5  each an 8-byte IEEE number
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace deepgap::store {

std::string encode_integers(std::span<const std::int64_t> values);
std::string encode_reals(std::span<const double> values);

// Fills `values` with exactly `count` numbers, or says how the blob is damaged.
Result<void> decode_integers(std::span<const std::byte> blob, std::size_t count,
                             std::vector<std::int64_t>& values);
Result<void> decode_reals(std::span<const std::byte> blob, std::size_t count, std::vector<double>& values);
// How many numbers a blob holds.
Result<std::size_t> encoded_count(std::span<const std::byte> blob);

}  // namespace deepgap::store
