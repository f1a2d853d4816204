#include "run/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace deepgap::run {
namespace {

constexpr double kProcessBytes = 150e6;  // a worker with its engine and no model
constexpr double kWeightCopies = 2;      // the engine's own layout beside the file's
constexpr double kFp32Bytes = 4;         // activation and weight bytes of a model are those of FP32
constexpr Nanoseconds kLoadTime = std::chrono::seconds(1);
constexpr double kShortestCall = 50e3;  // ns: what it costs to make a call at all
constexpr double kAdaptiveCalls = 110;  // warm-up and timed calls of a quiet machine at a target of 1 %
constexpr double kRoundCalls = 65;      // the same of a process that further rounds may follow
constexpr double kDoubt =
    2;  // a call may take so many times its forecast, for the limit that follows from it
constexpr double kAdaptiveLeast = 6e8;  // ns: the least time of warm-up and timed calls
constexpr double kFewestCalls = 3;      // the cold call, a warm one, a timed one: however long they take
constexpr double kLongest = 9e18;       // that an integer of nanoseconds or bytes holds

Bytes bytes_of(double bytes) {
  return Bytes{static_cast<std::int64_t>(std::min(bytes, kLongest))};
}
Nanoseconds nanoseconds_of(double time) {
  return Nanoseconds{static_cast<std::int64_t>(std::min(time, kLongest))};
}

double element_size(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kSizes{{{"float64", 8},
                                                                       {"int64", 8},
                                                                       {"float16", 2},
                                                                       {"bfloat16", 2},
                                                                       {"uint8", 1},
                                                                       {"int8", 1},
                                                                       {"bool", 1}}};
  for (const auto& [name, size] : kSizes)
    if (name == dtype) return size;
  return 4;
}

double input_bytes(const PlannedModel& model, std::int64_t batch) {
  double sum = 0;
  for (const TensorSpec& input : model.inputs) {
    double bytes = element_size(input.dtype);
    for (const std::int64_t size : input.shape)
      bytes *= static_cast<double>(size == PlannedModel::kBatch ? batch : size);
    sum += bytes;
  }
  return sum;
}

}  // namespace

void forecast_memory(const PlannedModel& model, const MachineLimits& limits, const MeasureRequest& measure,
                     PlannedCell& cell) {
  if (!model.weight_bytes || !model.activation_bytes_per_sample) return;
  const Workload& workload = cell.key.workload;
  const double calls = workload.mode == Mode::kThroughput ? measure.in_flight.value_or(1) : 1;
  const double activations = *model.activation_bytes_per_sample * static_cast<double>(workload.batch);
  const double input = input_bytes(model, workload.batch);
  const double inputs = input * measure.input_buffers;
  cell.forecast_memory =
      bytes_of(kProcessBytes + kWeightCopies * *model.weight_bytes + inputs + activations * calls);
  const double width = std::min(1.0, element_bytes(workload.precision) / kFp32Bytes);
  // The live activations may count an input of their own.
  const double least = (*model.weight_bytes + activations) * width + (inputs - input);
  if (!limits.available_memory || least <= static_cast<double>(limits.available_memory->value)) return;
  cell.refusal = Refusal{
      .kind = "refused",
      .doubt = &diagnostics::kPredictedNotToFit,
      .text = fmt::format(
          "batch {} needs at least {} (weights, the largest set of live activations and {} input {} of {}), "
          "{} are available: not tried; take a smaller batch or fewer --input-buffers",
          workload.batch, format_bytes(bytes_of(least)), measure.input_buffers,
          measure.input_buffers == 1 ? "buffer" : "buffers", format_bytes(bytes_of(input)),
          format_bytes(*limits.available_memory))};
}

void forecast_time(const PlannedModel& model, const MachineLimits& limits, const MeasureRequest& measure,
                   PlannedCell& cell) {
  cell.time_limit = measure.time_limit;
  if (!model.flops_per_sample || !limits.flops_per_second || *limits.flops_per_second <= 0) return;
  const double work = *model.flops_per_sample * static_cast<double>(cell.key.workload.batch);
  const double call = std::max(work / *limits.flops_per_second * 1e9, kShortestCall);
  const auto load = static_cast<double>(kLoadTime.count());
  const double repeats = measure.repeats;
  if (measure.fixed_calls) {
    const auto calls = static_cast<double>(*measure.fixed_calls + measure.fixed_warmup.value_or(0));
    cell.forecast_time = nanoseconds_of((call * calls + load) * repeats);
  } else {
    double limit = static_cast<double>(measure.time_limit.count());
    double most = limit + load * std::max(measure.most_repeats, measure.repeats);
    if (const std::optional<FixedProtocol>& fixed = measure.instead_of) {
      const double share = kShareOfFixed * fixed->processes;
      const double calls = call * static_cast<double>(fixed->warmup_calls + fixed->timed_calls);
      limit = std::max(limit, kDoubt * share * calls);
      most = share * (calls + load);
      cell.time_limit = nanoseconds_of(limit);
    }
    const double quiet =
        std::max(call * (measure.further_rounds() ? kRoundCalls : kAdaptiveCalls), kAdaptiveLeast);
    const double visit = std::max(std::min(quiet, limit / repeats), call * kFewestCalls);
    const double least = (visit + load) * repeats;
    cell.forecast_time = nanoseconds_of(least);
    cell.forecast_most = nanoseconds_of(std::max(most, least));
  }
  if (call > static_cast<double>(measure.hang_limit.count())) {
    cell.note = fmt::format("one call takes some {}, longer than the hang limit of {}: raise --hang-limit",
                            format_duration(nanoseconds_of(call)), format_duration(measure.hang_limit));
  } else if (*cell.forecast_time > measure.patience) {
    cell.note = fmt::format("takes some {}, longer than {}", format_duration(*cell.forecast_time),
                            format_duration(measure.patience));
  }
}

}  // namespace deepgap::run
