#include "session/store_sink.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "core/diagnostic.h"

namespace deepgap::session {

StoreSink::StoreSink(store::Store& store, SweepId sweep, const run::SweepPlan& plan,
                     const RunContext& context, Clock& clock)
    : store_(&store), sweep_(std::move(sweep)), plan_(&plan), context_(&context), clock_(&clock) {}

Result<StoreSink> StoreSink::open(store::Store& store, const SweepId& sweep, const run::SweepPlan& plan,
                                  const RunContext& context, Clock& clock) {
  StoreSink sink(store, sweep, plan, context, clock);
  DEEPGAP_ASSIGN(const std::vector<store::MeasurementHeader> headers, store.headers({.sweep = sweep}));
  for (const store::MeasurementHeader& header : headers) {
    const auto device = context.devices.find(header.key.device);
    if (device != context.devices.end() && device->second.name != header.device_name) {
      return usage_error(fmt::format(
          "--resume: sweep {} was measured on '{}', this machine's {} is '{}': expected the same "
          "machine; leave --resume out to start a sweep of its own",
          sweep.str(), printable(header.device_name), header.key.device, printable(device->second.name)));
    }
    CellState state{.id = header.id,
                    .processes = {header.processes.begin(), header.processes.end()},
                    .failed = header.failure.has_value()};
    sink.done_[header.key] = header.failure && run::is_for_good(*header.failure)
                                 ? header.planned_processes
                                 : static_cast<int>(header.processes.size());
    sink.cells_.emplace(header.key, std::move(state));
  }
  return sink;
}

Measurement StoreSink::new_measurement(const run::PlannedCell& cell) const {
  Measurement measurement{.id = MeasurementId(new_random_hex(16)),
                          .sweep = sweep_,
                          .key = cell.key,
                          .created_realtime_ns = clock_->realtime().count(),
                          .planned_processes = plan_->measure.repeats};
  if (!plan_->measure.fixed_calls) measurement.target = plan_->measure.target;
  if (const auto device = context_->devices.find(cell.key.device); device != context_->devices.end()) {
    measurement.device = device->second;
  }
  if (const auto version = context_->engine_versions.find(cell.key.engine);
      version != context_->engine_versions.end()) {
    measurement.engine_version = version->second;
  }
  return measurement;
}

std::vector<Setting> StoreSink::common_settings(const run::PlannedCell& cell) const {
  std::vector<Setting> rows = context_->settings;
  if (const auto version = context_->engine_versions.find(cell.key.engine);
      version != context_->engine_versions.end()) {
    rows.push_back({.name = std::string(settings::kEngineVersion), .effective = version->second});
  }
  rows.push_back({.name = std::string(settings::kModelHash), .effective = cell.key.workload.model_hash});
  return rows;
}

Result<void> StoreSink::store_visit(const run::PlannedCell& cell, store::CellVisit visit) {
  const std::vector<Setting> common = common_settings(cell);
  visit.settings.insert(visit.settings.begin(), common.begin(), common.end());
  const auto found = cells_.find(cell.key);
  if (found != cells_.end()) {
    CellState& state = found->second;
    if (visit.process) {
      // A worker counts its repeats; a resumed or extended sweep takes the next index that is free.
      int index = visit.process->index;
      while (found->second.processes.contains(index)) ++index;
      visit.process->index = index;
      const Result<void> stored = store_->in_one_transaction([&]() -> Result<void> {
        DEEPGAP_RETURN_IF_ERROR(store_->append_visit(state.id, visit));
        return state.failed ? store_->set_failure(state.id, std::nullopt) : Result<void>();
      });
      if (!stored.ok()) return stored.error();
      state.failed = false;
      state.processes.insert(index);
      ++done_[cell.key];
      return {};
    }
    // A cell with samples has no failure: its diagnostics tell of the visit that was lost.
    if (visit.failure && !state.processes.empty() && !run::is_for_good(*visit.failure)) visit.failure.reset();
    state.failed = state.failed || visit.failure.has_value();
    Result<void> stored = store_->append_visit(state.id, visit);
    if (stored.ok() && visit.failure && run::is_for_good(*visit.failure)) {
      done_[cell.key] = plan_->measure.repeats;
    }
    return stored;
  }
  Measurement measurement = new_measurement(cell);
  CellState state{.id = measurement.id, .failed = visit.failure.has_value()};
  if (visit.process) {
    state.processes.insert(visit.process->index);
    for (Diagnostic& diagnostic : visit.diagnostics) diagnostic.process = visit.process->index;
    for (TelemetrySeries& series : visit.telemetry) series.process = visit.process->index;
    measurement.processes.push_back(std::move(*visit.process));
  }
  for (Setting& setting : visit.settings) measurement.settings.push_back(std::move(setting));
  measurement.diagnostics = std::move(visit.diagnostics);
  for (const std::string& remark : plan_->models[cell.model].remarks) {
    measurement.diagnostics.push_back(diagnose(diagnostics::kModelRemark, cell.key.selector(), remark));
  }
  measurement.telemetry = std::move(visit.telemetry);
  measurement.failure = std::move(visit.failure);
  DEEPGAP_RETURN_IF_ERROR(store_->put_measurement(measurement));
  done_[cell.key] = measurement.failure && run::is_for_good(*measurement.failure)
                        ? measurement.planned_processes
                        : static_cast<int>(state.processes.size());
  cells_.emplace(cell.key, std::move(state));
  return {};
}

Result<void> StoreSink::store_refusals() {
  for (const run::PlannedCell& cell : plan_->cells) {
    if (!cell.refusal || cells_.contains(cell.key)) continue;
    const run::Refusal& refusal = *cell.refusal;
    DEEPGAP_RETURN_IF_ERROR(store_visit(
        cell, {.diagnostics = {diagnose(*refusal.doubt, cell.key.selector(), refusal.text)},
               .failure = CellFailure{
                   .kind = refusal.kind, .text = refusal.text, .bytes_asked = cell.forecast_memory}}));
  }
  return {};
}

Result<std::vector<ProcessRun>> StoreSink::earlier(const run::PlannedCell& cell) {
  const auto found = cells_.find(cell.key);
  if (found == cells_.end() || found->second.processes.empty()) return std::vector<ProcessRun>();
  DEEPGAP_ASSIGN(Measurement measurement, store_->load(found->second.id));
  return std::move(measurement.processes);
}

Result<void> StoreSink::visit_done(const run::PlannedCell& cell, const ProcessRun& process,
                                   const std::vector<Setting>& settings,
                                   const std::vector<Diagnostic>& diagnostics,
                                   const std::vector<TelemetrySeries>& telemetry) {
  return store_visit(
      cell, {.process = process, .settings = settings, .diagnostics = diagnostics, .telemetry = telemetry});
}

Result<void> StoreSink::cell_ended(const run::PlannedCell& cell, const std::vector<Diagnostic>& diagnostics) {
  const auto found = cells_.find(cell.key);
  if (found == cells_.end())
    return internal_error("expected a stored cell, found none: " + cell.key.selector());
  return store_->append_visit(found->second.id, {.diagnostics = diagnostics});
}

Result<void> StoreSink::visit_failed(const run::PlannedCell& cell, int /*repeat*/, const CellFailure& failure,
                                     const std::vector<Diagnostic>& diagnostics) {
  std::vector<Setting> requested;
  for (const auto& [name, value] : cell.settings) requested.push_back({.name = name, .requested = value});
  return store_visit(cell,
                     {.settings = std::move(requested), .diagnostics = diagnostics, .failure = failure});
}

}  // namespace deepgap::session
