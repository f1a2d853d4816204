// What a file of no known format is, as a part of a sentence: "a picture (PNG)", "a tar archive: unpack it
// first".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deepgap::trace {

// By the file's first bytes, unpacked, and its size as it lies there.
std::string looks_of(std::string_view head, std::int64_t size);

}  // namespace deepgap::trace
