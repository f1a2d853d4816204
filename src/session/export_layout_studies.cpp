#include "session/export_layout_studies.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "session/export_layout.h"
#include "session/sweep_request.h"

namespace deepgap::session {
namespace {

struct SweepSpan {
  std::int64_t created_realtime_ns = 0;
  int processes = 0;  // of its cell with most
  bool published = false;
};

std::string are(std::size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

}  // namespace

Result<StudySweeps> StudySweeps::of(store::Store& store) {
  std::map<std::string, SweepSpan> spans;
  DEEPGAP_ASSIGN(const std::vector<store::MeasurementHeader> headers, store.headers({}));
  for (const store::MeasurementHeader& header : headers) {
    const auto [span, fresh] = spans.try_emplace(header.sweep.str());
    if (fresh || header.created_realtime_ns < span->second.created_realtime_ns)
      span->second.created_realtime_ns = header.created_realtime_ns;
    if (!header.processes.empty())
      span->second.processes = std::max(span->second.processes, header.processes.back() + 1);
  }
  DEEPGAP_ASSIGN(const std::vector<store::Sweep> sweeps, store.sweeps());
  for (const store::Sweep& sweep : sweeps) {
    const auto span = spans.find(sweep.id.str());
    if (span == spans.end()) continue;
    span->second.created_realtime_ns = sweep.created_realtime_ns;
    // A request that cannot be read is nothing to a table of cells.
    const Result<RunOptions> request = parse_request(sweep.plan_json);
    span->second.published = request.ok() && request->like_published;
  }
  std::vector<std::pair<std::string, SweepSpan>> in_order(spans.begin(), spans.end());
  std::stable_sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
    return a.second.created_realtime_ns < b.second.created_realtime_ns;
  });
  StudySweeps numbers;
  int next = 1;
  for (const auto& [id, span] : in_order) {
    numbers.first_[id] = next;
    next += std::max(1, study_sweeps(span.processes, span.published));
  }
  return numbers;
}

int StudySweeps::first_of(const SweepId& sweep) const {
  const auto found = first_.find(sweep.str());
  return found == first_.end() ? 1 : found->second;
}

bool StudyCells::takes(const Measurement& measurement) {
  ++cells_;
  const CellKey& key = measurement.key;
  if (key.workload.mode != Mode::kLatency) {
    ++in_flight_;
    return false;
  }
  if (measurement.sample_count() == 0) {
    ++without_samples_;
    return false;
  }
  Hidden& hidden = alike_[{key.device, key.workload.model, key.workload.batch}];
  hidden.engines.insert(key.engine);
  hidden.devices.insert(measurement.device.name);
  hidden.precisions.emplace(name_of(key.workload.precision));
  hidden.dims.insert(key.workload.dims.empty() ? "none" : dims_text(key.workload));
  return true;
}

std::vector<std::string> StudyCells::notes(std::string_view layout) const {
  std::vector<std::string> notes;
  if (in_flight_ > 0) {
    notes.push_back(fmt::format(
        "{} of {} left out: the columns {} are of calls made one at a time, and {} measured with calls in "
        "flight",
        in_flight_,
        are(cells_, in_flight_ == 1 ? "cell is" : "cells is", in_flight_ == 1 ? "cells is" : "cells are"),
        layout, in_flight_ == 1 ? "it was" : "these were"));
  }
  if (without_samples_ > 0) {
    notes.push_back(fmt::format("{} of {} left out: without samples there are no rows", without_samples_,
                                are(cells_, "cell is", without_samples_ == 1 ? "cells is" : "cells are")));
  }
  std::set<std::string> engines, devices, precisions, dims;
  const auto gather = [](const std::set<std::string>& of_alike, std::set<std::string>& all) {
    if (of_alike.size() > 1) all.insert(of_alike.begin(), of_alike.end());
  };
  for (const auto& [seen, hidden] : alike_) {
    gather(hidden.engines, engines);
    gather(hidden.devices, devices);
    gather(hidden.precisions, precisions);
    gather(hidden.dims, dims);
  }
  const auto tell = [&](std::string_view what, const std::set<std::string>& values, std::string_view advice) {
    if (values.empty()) return;
    notes.push_back(fmt::format(
        "the columns {} have none for the {} ({}): rows that differ in it alone cannot be told apart; {}",
        layout, what, printable(join(std::vector<std::string>(values.begin(), values.end()), ", "), 200),
        advice));
  };
  const auto subject = [](const char* pattern, const std::set<std::string>& values) {
    return values.empty() ? std::string()
                          : fmt::format("name one in the subject, as in {}",
                                        fmt::format(fmt::runtime(pattern), printable(*values.begin())));
  };
  tell("engine", engines, subject("'*/{}/*/*/*'", engines));
  tell("precision", precisions, subject("'*/*/*/{}/*'", precisions));
  tell("device's name", devices, "export from the stores before they were merged");
  tell("dimensions", dims, "the columns deepgap have one");
  return notes;
}

}  // namespace deepgap::session
