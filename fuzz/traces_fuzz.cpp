#include <limits>
#include <numeric>

#include "example_store.h"
#include "report/trace_findings.h"
#include "session/trace.h"
#include "target.h"
#include "trace/attribution.h"
#include "trace/kineto/kineto.h"
#include "trace/op_records.h"
#include "trace/quality.h"
#include "trace/steps.h"

namespace deepgap::fuzz {
namespace {

void check(const trace::Timeline& timeline) {
  const trace::EventCounts& counts = timeline.counts;
  require(counts.read == counts.kept + counts.ignored + counts.lost, "every event is kept, ignored or lost");
  require(counts.kept == static_cast<std::int64_t>(timeline.events.size() + timeline.memory.size()),
          "what is kept is there");
  const trace::Steps steps = trace::find_steps(timeline);
  const trace::Attribution attribution = trace::attribute(timeline, steps);
  require(attribution.steps.size() == steps.steps.size(), "each step has labels");
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : attribution.steps[i].ns) {
      require(ns >= 0, "no label is below zero");
      sum += ns;
    }
    require(sum == steps.steps[i].wall_ns(), "labels sum to the step");
    require(steps.steps[i].start_ns >= end, "steps do not overlap");
    end = steps.steps[i].end_ns;
  }
  const trace::Quality quality = trace::judge(timeline, steps, attribution);
  require(quality.broken.size() == steps.steps.size(), "each step is judged");
  const auto traced = trace::trace_ops(timeline, steps, attribution);
  require(traced.ok(), "the ops' charges are the label kernel");
  std::vector<std::size_t> all(steps.steps.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  require(trace::op_rows(timeline, *traced, all, 3).size() <= 4, "the rest is one row");
  require(trace::op_records(timeline, *traced, steps).size() >= traced->work.size(), "all work is recorded");
}

void survive(std::string_view input) {
  const std::string path = scratch_file("trace.json");
  write_scratch(path, input);
  auto source = trace::ByteSource::open(path);
  if (!checked(source)) return;
  if (const auto timeline = trace::read_kineto(*source); checked(timeline)) check(*timeline);
  if (const auto answer = session::trace_file(path, {}); checked(answer)) require_document(answer->document);
}

std::vector<Seed> seeds() {
  const std::string events =
      R"json({"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100.5},
{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":1,"dur":20,"args":{"External id":1,"Input Dims":[[1,2]],"Input type":["float"],"Concrete Inputs":[""]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5.25,"dur":4,"args":{"correlation":7,"External id":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":15,"dur":30,"args":{"device":0,"stream":7,"correlation":7,"grid":[1,2,3],"block":[32,1,1]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":25,"dur":30,"args":{"correlation":8}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2,"args":{"Bytes":512,"Device Type":1,"Device Id":0}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,"ts":60,"dur":25,"args":{"device":0,"bytes":64}},
{"ph":"B","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":70},{"ph":"E","pid":1,"tid":2,"ts":80},
{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}})json";
  const std::string object =
      R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU","numSms":4,"computeMajor":9,"computeMinor":0}],
"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)";
  return {{"object", object + events + "]}"},
          {"list", "[" + events + "]"},
          {"cut", object + events.substr(0, 700)},
          {"repeated", "[" + events + "," + events + "," + events + "]"},
          {"damaged",
           "\xEF\xBB\xBF[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"C:\\Users\\\x01\",\"ts\":NaN,},"
           "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"ts\":\"1e3\",\"dur\":-Infinity}, 3, [[{}]],]"}};
}

}  // namespace

const Target kTraces{"traces", "profilers' traces", survive, seeds};

}  // namespace deepgap::fuzz
