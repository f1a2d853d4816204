// What reading, writing and merging share: the names of sample columns, devices by key, the walk over cells.
// Private to the module.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "core/device.h"
#include "core/measurement.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace deepgap::store {

// The quantity column of the table samples.
enum class SampleQuantity { kHost = 1, kStart = 2, kEnqueue = 3, kDevice = 4 };

// How a device's ceilings meet those that are stored already.
enum class CeilingPolicy {
  kNewestWins,     // one that differs from the newest is added: the caller has just learnt it
  kAddUnknownOnly  // one that was ever stored is not added again: the caller may hold old knowledge
};

// The row's key; the device is added, or its aliases and ceilings brought up to date. Inside a transaction.
Result<std::int64_t> upsert_device(Connection& connection, const Device& device, CeilingPolicy policy);

// Address, name, aliases and kind; with `full` also facts and ceilings in force.
Result<Device> load_device(Connection& connection, std::int64_t key, bool full);

// Store::for_each; `on_damaged` gets the key of each cell that is skipped.
Result<Visited> walk_cells(Connection& connection, const Filter& filter, LoadDepth depth,
                           const Visitor& visitor,
                           const std::function<void(std::int64_t)>& on_damaged = nullptr);

// The row's key, or nothing.
Result<std::optional<std::int64_t>> find_measurement(Connection& connection, const MeasurementId& id);
// The row's key, or an error of kind kUsage.
Result<std::int64_t> require_measurement(Connection& connection, const MeasurementId& id);

// NULL where a text is empty.
inline std::optional<std::string_view> null_if_empty(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace deepgap::store
