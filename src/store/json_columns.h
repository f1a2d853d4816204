// The few columns that hold JSON: dims, aliases, shapes, dtypes. Private to the module; "" and an empty value
// go together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deepgap::store {

std::string dims_to_json(const std::map<std::string, std::int64_t>& dims);
Result<std::map<std::string, std::int64_t>> dims_from_json(std::string_view json);

std::string texts_to_json(const std::vector<std::string>& texts);
Result<std::vector<std::string>> texts_from_json(std::string_view json);

std::string shapes_to_json(const std::vector<std::vector<std::int64_t>>& shapes);
Result<std::vector<std::vector<std::int64_t>>> shapes_from_json(std::string_view json);

}  // namespace deepgap::store
