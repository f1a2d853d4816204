// The catalogue of metrics: what each number that deepgap shows is called, its unit and what it means.
// It feeds column headings, CSV and JSON names, docs/metrics.md.
#pragma once

#include <span>
#include <string_view>

#include "core/estimate.h"

namespace deepgap {

struct Metric {
  std::string_view id;       // in JSON and CSV: "latency", "p99", "throughput"
  std::string_view heading;  // in tables: "p99"
  Unit unit;
  bool lower_is_better;
  std::string_view meaning;  // one sentence
};

namespace metrics {
extern const Metric kLatency;  // host latency of a batch: median
extern const Metric kP50;
extern const Metric kP90;
extern const Metric kP95;
extern const Metric kP99;
extern const Metric kP97;  // as a foreign tool reported it, as the four that follow
extern const Metric kP999;
extern const Metric kMinimum;
extern const Metric kMaximum;
extern const Metric kMean;
extern const Metric kStandardDeviation;
extern const Metric kThroughput;   // samples finished in the window / length of the window
extern const Metric kDeviceTime;   // between device events
extern const Metric kEnqueueTime;  // host time to submit
extern const Metric kLoadTime;     // from `load` to ready
extern const Metric kFirstCall;    // the cold first call
extern const Metric kPeakMemory;
extern const Metric kPeakDeviceMemory;
extern const Metric kPower;  // as a foreign tool reported it, as the next
extern const Metric kDeviceUtilisation;
extern const Metric kSaturationBatch;
}  // namespace metrics

std::span<const Metric* const> all_metrics();

}  // namespace deepgap
