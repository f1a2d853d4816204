#include "core/metric.h"

#include <array>

namespace deepgap {
namespace metrics {

constexpr Metric kLatency{
    "latency", "latency", Unit::kNanoseconds, true,
    "Median host latency of one batch: what the caller waits, over all processes of the cell; in "
    "throughput mode from submit to completion of a call in flight."};
constexpr Metric kP50{"p50", "p50", Unit::kNanoseconds, true,
                      "Half of the calls took at most this long: the same number as `latency`."};
constexpr Metric kP90{"p90", "p90", Unit::kNanoseconds, true,
                      "90 % of the calls took at most this long: an order statistic of all samples pooled."};
constexpr Metric kP95{"p95", "p95", Unit::kNanoseconds, true,
                      "95 % of the calls took at most this long: an order statistic of all samples pooled."};
constexpr Metric kP99{"p99", "p99", Unit::kNanoseconds, true,
                      "99 % of the calls took at most this long: an order statistic of all samples pooled."};
constexpr Metric kP97{"p97", "p97", Unit::kNanoseconds, true,
                      "97 % of the calls took at most this long, as a foreign tool reported it."};
constexpr Metric kP999{"p99_9", "p99.9", Unit::kNanoseconds, true,
                       "99.9 % of the calls took at most this long, as a foreign tool reported it."};
constexpr Metric kMinimum{"minimum", "minimum", Unit::kNanoseconds, true,
                          "The shortest call of one run, as a foreign tool reported it."};
constexpr Metric kMaximum{"maximum", "maximum", Unit::kNanoseconds, true,
                          "The longest call of one run, as a foreign tool reported it."};
constexpr Metric kMean{
    "mean", "mean", Unit::kNanoseconds, true,
    "Mean host latency of one batch, as a foreign tool reported it; deepgap gives medians."};
constexpr Metric kStandardDeviation{
    "standard_deviation", "deviation", Unit::kNanoseconds, true,
    "Standard deviation of the host latencies of one run, as a foreign tool reported it."};
constexpr Metric kThroughput{
    "throughput", "samples/s", Unit::kSamplesPerSecond, false,
    "Samples finished in the window divided by its length, measured, never batch divided by "
    "median; in latency mode of calls made one at a time."};
constexpr Metric kDeviceTime{"device_time", "device", Unit::kNanoseconds, true,
                             "Time of one batch between device events, where the engine has a device timer."};
constexpr Metric kEnqueueTime{"enqueue_time", "enqueue", Unit::kNanoseconds, true,
                              "Host time to submit one batch, without waiting for its result."};
constexpr Metric kLoadTime{
    "load_time", "load", Unit::kNanoseconds, true,
    "Time from the request to load the model until it is ready: reading, compiling, allocating."};
constexpr Metric kFirstCall{"first_call", "first call", Unit::kNanoseconds, true,
                            "Time of the cold first call of a process, which is not among the samples."};
constexpr Metric kPeakMemory{
    "peak_memory", "peak memory", Unit::kBytes, true,
    "Largest resident memory of the engine's process, model and libraries included."};
constexpr Metric kPeakDeviceMemory{"peak_device_memory", "peak device memory", Unit::kBytes, true,
                                   "Largest memory on the device that the engine's allocator held."};
constexpr Metric kPower{"power", "power", Unit::kWatts, true,
                        "Mean power of the device while it ran, as a foreign tool reported it."};
constexpr Metric kDeviceUtilisation{
    "device_utilisation", "device busy", Unit::kRatio, false,
    "Share of the time in which the device had work, as a foreign tool reported it."};
constexpr Metric kSaturationBatch{
    "saturation_batch", "saturates at", Unit::kCount, true,
    "Smallest batch whose throughput every larger measured batch is shown to exceed by no more than the "
    "margin (5 %); not given where the intervals are too wide to tell."};

}  // namespace metrics

namespace {

using namespace metrics;
constexpr std::array kAllMetrics{&kLatency,
                                 &kP50,
                                 &kP90,
                                 &kP95,
                                 &kP99,
                                 &kP97,
                                 &kP999,
                                 &kMinimum,
                                 &kMaximum,
                                 &kMean,
                                 &kStandardDeviation,
                                 &kThroughput,
                                 &kDeviceTime,
                                 &kEnqueueTime,
                                 &kLoadTime,
                                 &kFirstCall,
                                 &kPeakMemory,
                                 &kPeakDeviceMemory,
                                 &kPower,
                                 &kDeviceUtilisation,
                                 &kSaturationBatch};

}  // namespace

std::span<const Metric* const> all_metrics() {
  return kAllMetrics;
}

}  // namespace deepgap
