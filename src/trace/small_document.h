// A JSON file that is small by its kind, read whole.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "trace/byte_source.h"

namespace deepgap::trace {

// Errors (bad input): larger than `most` bytes, cut off, no JSON; they name the place.
Result<nlohmann::json> read_small_document(ByteSource& source, std::size_t most);

}  // namespace deepgap::trace
