// Values of core as JSON, the same in every document (section 8 of the design). Absent is left out, never
// null.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "core/device.h"
#include "core/diagnostic.h"
#include "core/estimate.h"
#include "core/setting.h"
#include "core/workload.h"

namespace deepgap::report {

using Json = nlohmann::ordered_json;

Json json_of(const Estimate& estimate);
Json json_of(std::span<const Diagnostic> diagnostics);
Json json_of(const Device& device);
Json json_of(const Ceiling& ceiling);
// {"requested": {name: value}, "effective": {name: value}}
Json json_of_settings(std::span<const Setting> settings);
// model, engine, device, precision, batch, mode (and dims where there are any)
Json json_of(const CellKey& key);
// Times as integers in ns where they are whole.
Json json_number(double value);

// A document's data that is there already.
std::function<Json()> ready(Json json);

// Adds member `name` where there is a value.
template <typename T>
void put(Json& object, const char* name, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (requires { json_of(*value); }) {
    object[name] = json_of(*value);
  } else {
    object[name] = *value;
  }
}

}  // namespace deepgap::report
