// What is known of real traces: the causes that were planted in them, and how far the labels move with the
// limits.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "trace/attribution.h"
#include "trace/kineto/kineto.h"
#include "trace/quality.h"

namespace deepgap::trace {
namespace {

const std::string kFolder = DEEPGAP_SOURCE_FOLDER "/../shared/traces/h200/";

std::optional<Timeline> read(const std::string& name) {
  Result<ByteSource> source = ByteSource::open(kFolder + name + ".pt.trace.json.gz");
  if (!source.ok()) return std::nullopt;
  Result<Timeline> timeline = read_kineto(*source);
  if (!timeline.ok()) return std::nullopt;
  return std::move(*timeline);
}

// Means over the steps in ms. From the table of known causes that came with these traces: what its prototype
// found, so that 5 % of the step may differ.
TEST(Attribute, KnownCausesAreFound) {
  struct Known {
    const char* name;
    double wall, kernel, synchronisation, allocation, cpu_op, copies, host;
  };
  if (!std::ifstream(kFolder + "EXPECTED.md")) GTEST_SKIP() << "there is no ../shared/traces/h200";
  for (const Known& known : {Known{"tracker_tf32", 42.391, 38.526, 1.0, 0, 0, 0.08, 1.9},
                             Known{"tracker_host_sync", 104.309, 38.504, 57.1, 0, 0, 1.56, 6.3},
                             Known{"tracker_no_alloc_cache", 170.285, 39.352, 1.0, 114.7, 0, 0.08, 14.3},
                             Known{"tracker_launch_blocking", 86.080, 38.784, 46.8, 0, 0, 0.07, 0.3},
                             Known{"bert_item_sync", 12.182, 0.649, 1.24, 0, 0, 0.02, 10.2},
                             Known{"bert_data_wait", 40.313, 4.386, 0.02, 0, 0, 0.03, 35.8},
                             Known{"vit_b16_cpu_preprocess", 33.237, 7.588, 0.01, 0, 12.9, 2.2, 10.3},
                             Known{"resnet50_b1_eager", 11.786, 0.800, 0.02, 0, 0, 0.01, 10.9}}) {
    const std::optional<Timeline> timeline = read(known.name);
    ASSERT_TRUE(timeline) << known.name;
    const Steps steps = find_steps(*timeline);
    const Attribution found = attribute(*timeline, steps);
    const auto mean = [&](std::initializer_list<Label> labels) {
      std::int64_t sum = 0;
      for (const StepLabels& step : found.steps) {
        for (const Label label : labels) sum += step.of(label);
      }
      return static_cast<double>(sum) / static_cast<double>(found.steps.size()) / 1e6;
    };
    double wall = 0;
    for (const Step& step : steps.steps)
      wall += static_cast<double>(step.wall_ns()) / static_cast<double>(steps.steps.size()) / 1e6;
    EXPECT_NEAR(wall, known.wall, 0.001) << known.name;
    EXPECT_NEAR(mean({Label::kKernel}), known.kernel, 0.001) << known.name;
    const double near = 0.05 * known.wall;
    EXPECT_NEAR(mean({Label::kIdleSynchronisation}), known.synchronisation, near) << known.name;
    EXPECT_NEAR(mean({Label::kIdleAllocation}), known.allocation, near) << known.name;
    EXPECT_NEAR(mean({Label::kIdleCpuOp}), known.cpu_op, near) << known.name;
    EXPECT_NEAR(mean({Label::kCopyExposed, Label::kIdleCopyWait}), known.copies, near) << known.name;
    EXPECT_NEAR(mean({Label::kIdleHostLaunch, Label::kIdleFramework}), known.host, near) << known.name;
  }
}

struct Limit {
  const char* name;
  std::function<void(AttributionLimits&, double)> scale;
  double most;  // of a step's time that changes its label when the limit is halved or doubled
};

template <typename T>
void times(T& value, double factor) {
  value = static_cast<T>(std::max(std::round(static_cast<double>(value) * factor), 1.0));
}

const std::vector<Limit>& limits() {
  static const std::vector<Limit> all = {
      {"queued_ns", [](auto& l, double f) { times(l.queued_ns, f); }, 0.02},
      {"contention_ns", [](auto& l, double f) { times(l.contention_ns, f); }, 0.02},
      {"blocking_share", [](auto& l, double f) { l.blocking_share = std::min(1.0, l.blocking_share * f); },
       0.02},
      {"long_view_ns", [](auto& l, double f) { times(l.host.long_view_ns, f); }, 0.02},
      {"real_copy_ns", [](auto& l, double f) { times(l.host.real_copy_ns, f); }, 0.02},
      {"startup.least_ns", [](auto& l, double f) { times(l.host.causes.startup.least_ns, f); }, 0.02},
      {"startup.factor", [](auto& l, double f) { l.host.causes.startup.factor *= f; }, 0.02},
      {"startup.rare", [](auto& l, double f) { times(l.host.causes.startup.rare, f); }, 0.02},
      {"autotuning.records", [](auto& l, double f) { times(l.host.causes.autotuning.records, f); }, 0.02},
      {"autotuning.tried", [](auto& l, double f) { times(l.host.causes.autotuning.tried, f); }, 0.02},
      {"autotuning.times_siblings", [](auto& l, double f) { l.host.causes.autotuning.times_siblings *= f; },
       0.02},
      {"autotuning.least_alike", [](auto& l, double f) { times(l.host.causes.autotuning.least_alike, f); },
       0.02},
      {"interruption.least_ns", [](auto& l, double f) { times(l.host.causes.interruption.least_ns, f); },
       0.02},
      {"interruption.factor", [](auto& l, double f) { l.host.causes.interruption.factor *= f; }, 0.02},
  };
  return all;
}

// The share of all steps' time that has another label.
double moved(const Attribution& a, const Attribution& b) {
  double moved = 0;
  double wall = 0;
  for (std::size_t step = 0; step < a.steps.size(); ++step) {
    for (std::size_t label = 0; label < kLabels; ++label) {
      moved += std::abs(static_cast<double>(a.steps[step].ns[label] - b.steps[step].ns[label])) / 2;
      wall += static_cast<double>(a.steps[step].ns[label]);
    }
  }
  return moved / wall;
}

using Traces = std::vector<std::pair<std::string, Timeline>>;

// None where they are absent.
Traces all_traces() {
  Traces traces;
  for (const char* name : {"bert_data_wait",
                           "bert_fp32",
                           "bert_item_sync",
                           "bert_math_attention",
                           "bert_small",
                           "bert_small_graph",
                           "bert_tf32",
                           "mobilenet_b64_fp16",
                           "mobilenet_b64_fp16_cl",
                           "resnet50_b1_eager",
                           "resnet50_b1_graph",
                           "resnet50_b64_fp16",
                           "resnet50_b64_fp16_cl",
                           "tracker_cold",
                           "tracker_fp32",
                           "tracker_host_sync",
                           "tracker_launch_blocking",
                           "tracker_no_alloc_cache",
                           "tracker_tf32",
                           "vit_b16_cpu_preprocess",
                           "vit_b16_tf32"}) {
    std::optional<Timeline> timeline = read(name);
    if (!timeline) return {};
    traces.emplace_back(name, std::move(*timeline));
  }
  return traces;
}

// The trace that moves most with a limit halved or doubled, as the table of docs/trace.md has it.
class Most {
 public:
  void see(double share, const std::string& trace) {
    if (share <= share_) return;
    share_ = share;
    trace_ = trace;
  }
  std::string cell() const {
    return share_ < 0.00005 ? " 0 |" : fmt::format(" {:.2f} % ({}) |", 100 * share_, trace_);
  }

 private:
  double share_ = 0;
  std::string trace_;
};

// DEEPGAP_APPROVE=1 prints the table of docs/trace.md.
void show(const std::string& row) {
  if (std::getenv("DEEPGAP_APPROVE") != nullptr) std::puts(row.c_str());
}

TEST(Attribute, LabelsMoveLittleWithTheLimits) {
  const Traces traces = all_traces();
  if (traces.empty()) GTEST_SKIP() << "there is no ../shared/traces/h200";
  std::vector<Attribution> usual;
  for (const auto& [name, timeline] : traces) usual.push_back(attribute(timeline, find_steps(timeline)));
  for (const Limit& limit : limits()) {
    std::string row = fmt::format("| `{}` |", limit.name);
    for (const double factor : {0.5, 2.0}) {
      AttributionLimits other;
      limit.scale(other, factor);
      Most most;
      for (std::size_t i = 0; i < traces.size(); ++i) {
        const Timeline& timeline = traces[i].second;
        const double share = moved(usual[i], attribute(timeline, find_steps(timeline), std::nullopt, other));
        EXPECT_LE(share, limit.most) << limit.name << " times " << factor << ": " << traces[i].first;
        most.see(share, traces[i].first);
      }
      row += most.cell();
    }
    show(row);
  }
}

struct Mean {
  double wall_ns = 0;
  Verdict verdict = Verdict::kUnusable;
};

Mean mean_of(const Timeline& timeline, const StepLimits& step_limits, const QualityLimits& quality_limits) {
  const Steps steps = find_steps(timeline, step_limits);
  const Quality quality = judge(timeline, steps, attribute(timeline, steps), std::nullopt, quality_limits);
  const std::vector<std::size_t> used = steps_to_average(steps, quality);
  Mean mean{.verdict = quality.verdict};
  for (const std::size_t step : used)
    mean.wall_ns += static_cast<double>(steps.steps[step].wall_ns()) / static_cast<double>(used.size());
  return mean;
}

// The limits of steps and of the verdict: the mean step moves by at most `most`, and no verdict does.
TEST(Attribute, MeansMoveLittleWithTheLimits) {
  struct Moved {
    const char* name;
    std::function<void(StepLimits&, QualityLimits&, double)> scale;
    double most_halved, most_doubled;
  };
  const Traces traces = all_traces();
  if (traces.empty()) GTEST_SKIP() << "there is no ../shared/traces/h200";
  using S = StepLimits;
  using Q = QualityLimits;
  for (const Moved& limit : {
           // Halved, every first step is a cold start: the means are those of the others.
           Moved{"cold_start", [](S&s, Q&, double f) { s.cold_start *= f; }, 0.25, 0.02},
           Moved{"least_cover", [](S&s, Q&, double f) { s.least_cover *= f; }, 0, 0},
           Moved{"ahead_share", [](S&s, Q&, double f) { s.ahead_share *= f; }, 0, 0},
           Moved{"counts_differ", [](S&, Q&q, double f) { q.counts_differ *= f; }, 0, 0},
           Moved{"shortest_sequence", [](S&s, Q&, double f) { times(s.shortest_sequence, f); }, 0, 0},
           Moved{"broken_share", [](S&, Q&q, double f) { q.broken_share *= f; }, 0, 0},
           Moved{"clock_rounding_ns", [](S&, Q&q, double f) { times(q.clock_rounding_ns, f); }, 0, 0},
           Moved{"wait_rounding_ns", [](S&, Q&q, double f) { times(q.wait_rounding_ns, f); }, 0, 0},
           Moved{"steps_differ", [](S&, Q&q, double f) { q.steps_differ *= f; }, 0, 0},
           Moved{"late_ns", [](S&, Q&q, double f) { times(q.late_ns, f); }, 0, 0},
           Moved{"long_annotation_ns", [](S&, Q&q, double f) { times(q.long_annotation_ns, f); }, 0, 0},
           Moved{"annotation_share", [](S&, Q&q, double f) { q.annotation_share *= f; }, 0, 0},
       }) {
    std::string row = fmt::format("| `{}` |", limit.name);
    for (const double factor : {0.5, 2.0}) {
      StepLimits step_limits;
      QualityLimits quality_limits;
      limit.scale(step_limits, quality_limits, factor);
      Most most;
      for (const auto& [name, timeline] : traces) {
        const Mean usual = mean_of(timeline, {}, {});
        const Mean other = mean_of(timeline, step_limits, quality_limits);
        const double share = std::abs(other.wall_ns - usual.wall_ns) / usual.wall_ns;
        EXPECT_LE(share, factor < 1 ? limit.most_halved : limit.most_doubled) << limit.name << ": " << name;
        EXPECT_EQ(name_of(other.verdict), name_of(usual.verdict)) << limit.name << ": " << name;
        most.see(share, name);
      }
      row += most.cell();
    }
    show(row);
  }
}

}  // namespace
}  // namespace deepgap::trace
