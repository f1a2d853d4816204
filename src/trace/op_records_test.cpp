#include "trace/op_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "trace/kineto/kineto.h"
#include "trace/quality.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;

const std::string kFixtures = DEEPGAP_SOURCE_FOLDER "/tests/data/traces/kineto/";
const std::string kShared = DEEPGAP_SOURCE_FOLDER "/../shared/traces/h200/";

struct Traced {
  Timeline timeline;
  Steps steps;
  Attribution attribution;
  TracedOps ops;
  std::vector<std::size_t> averaged;

  explicit Traced(Timeline from) : timeline(std::move(from)) {
    steps = find_steps(timeline);
    attribution = attribute(timeline, steps);
    Result<TracedOps> found = trace_ops(timeline, steps, attribution);
    EXPECT_TRUE(found.ok());
    if (found.ok()) ops = std::move(found.value());
    averaged = steps_to_average(steps, judge(timeline, steps, attribution));
  }
  static Traced of_file(const std::string& path) {
    Result<ByteSource> source = ByteSource::open(path);
    EXPECT_TRUE(source.ok()) << path;
    Result<Timeline> timeline = read_kineto(source.value());
    EXPECT_TRUE(timeline.ok());
    return Traced(std::move(timeline.value()));
  }

  std::vector<OpRow> rows(std::size_t most = kMostRows) const {
    return op_rows(timeline, ops, averaged, most);
  }
  std::string_view name(const OpRow& row) const { return timeline.texts[timeline.events[row.event].name]; }
  // Of a step, of the ops of one class; of all of them without one.
  std::int64_t flops(std::optional<ops::OpClass> op_class = std::nullopt) const {
    std::int64_t sum = 0;
    for (const TracedOp& op : ops.ops) {
      if (op.step == averaged.front() && op.flops && (!op_class || op.op_class == op_class))
        sum += op.flops->value;
    }
    return sum;
  }
};

Timeline two_steps() {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100);
  builder.shaped("[[4, 6], [6, 8]]", R"(["float", "float"])");
  for (int step = 0; step < 2; ++step) {
    const int at = 100 * step;
    builder.op("aten::mm", at, 10).launch(at + 2, 2, 2U + 10U * static_cast<unsigned>(step));
    builder.kernel("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16", at + 20, 10,
                   2U + 10U * static_cast<unsigned>(step));
    builder.op("aten::mm", at + 12, 5).launch(at + 13, 2, 3U + 10U * static_cast<unsigned>(step));
    builder.kernel("ampere_sgemm_128x64_tn", at + 35, 30, 3U + 10U * static_cast<unsigned>(step));
  }
  builder.shaped("[[9]]", R"(["float"])")
      .op("aten::relu", 120, 5)
      .launch(121, 2, 30)
      .kernel("relu", 170, 5, 30);
  Timeline timeline = builder.build();
  timeline.format = "kineto";
  return timeline;
}

TEST(OpRows, EqualCallsTogether) {
  const Traced traced(two_steps());
  ASSERT_EQ(traced.averaged.size(), 2U);
  const std::vector<OpRow> rows = traced.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(traced.name(rows[0]), "aten::mm");
  EXPECT_EQ(rows[0].count, 4);
  EXPECT_EQ(rows[0].kernels, 4);
  EXPECT_EQ(rows[0].charge_ns, 80'000);
  EXPECT_EQ(rows[0].duration_ns, 80'000);
  EXPECT_EQ(rows[0].host_ns, 30'000);
  EXPECT_EQ(rows[0].flops, Flops{4LL * 2 * 4 * 6 * 8});
  // By which most of the time went, and the kernel that took longest.
  EXPECT_EQ(rows[0].precision_path, Precision::kFp32);
  EXPECT_EQ(traced.timeline.texts[traced.timeline.events[rows[0].main_kernel].name],
            "ampere_sgemm_128x64_tn");
  EXPECT_EQ(traced.name(rows[1]), "aten::relu");
  EXPECT_EQ(rows[1].count, 1);
}

TEST(OpRows, OfSomeStepsAlone) {
  const Traced traced(two_steps());
  const std::vector<OpRow> rows = op_rows(traced.timeline, traced.ops, {0});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_TRUE(op_rows(traced.timeline, traced.ops, {}).empty());
}

TEST(OpRows, TheRestIsOneRow) {
  const Traced traced(two_steps());
  const std::vector<OpRow> rows = traced.rows(1);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].event, kNoEvent);
  EXPECT_EQ(rows[1].charge_ns, 5'000);
  EXPECT_EQ(rows[1].count, 1);
}

TEST(OpRecords, AnOpAndBehindItItsWork) {
  const Traced traced(two_steps());
  const std::vector<OpRecord> records = op_records(traced.timeline, traced.ops, traced.steps, 1);
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].name, "aten::mm");
  EXPECT_EQ(records[0].role, OpRole::kOp);
  EXPECT_EQ(records[0].op_class, "matmul");
  EXPECT_THAT(records[0].shapes, ElementsAre(ElementsAre(4, 6), ElementsAre(6, 8)));
  EXPECT_THAT(records[0].dtypes, ElementsAre("float32", "float32"));
  EXPECT_EQ(records[0].start_at, Nanoseconds(0));  // of the step
  EXPECT_EQ(records[0].duration, Nanoseconds(10'000));
  EXPECT_EQ(records[0].parent, std::nullopt);
  EXPECT_EQ(records[0].correlation, std::nullopt);
  EXPECT_EQ(records[0].flops, Flops{2 * 4 * 6 * 8});
  EXPECT_EQ(records[0].precision_path, Precision::kTf32);
  EXPECT_EQ(records[0].lane, "1/main");
  EXPECT_EQ(records[1].role, OpRole::kKernel);
  EXPECT_EQ(records[1].start_at, Nanoseconds(20'000));
  EXPECT_EQ(records[1].parent, 0);
  EXPECT_EQ(records[1].correlation, 12);
  EXPECT_EQ(records[3].parent, 2);
  EXPECT_EQ(op_records(traced.timeline, traced.ops, traced.steps).size(), 10U);
}

void check_sums(const Traced& traced, const std::string& file) {
  const std::size_t steps = traced.steps.steps.size();
  std::vector<std::int64_t> charged(steps, 0);
  for (const Charge& charge : traced.ops.charges.charges) charged[charge.step] += charge.ns;
  std::int64_t kernels = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    EXPECT_EQ(charged[i], traced.attribution.steps[i].of(Label::kKernel)) << file << ", step " << i;
  }
  for (const TracedOp& op : traced.ops.ops) kernels += op.kernels;
  if (traced.ops.device) {
    std::int64_t expected = 0;
    for (const Event& event : traced.timeline.events) {
      if (event.role == Role::kKernel && traced.timeline.launches[event.detail].device == *traced.ops.device)
        ++expected;
    }
    EXPECT_EQ(kernels, expected) << file;
  }
  std::int64_t in_rows = 0;
  std::int64_t in_steps = 0;
  for (const OpRow& row : traced.rows()) in_rows += row.charge_ns;
  for (const std::size_t step : traced.averaged) in_steps += charged[step];
  EXPECT_EQ(in_rows, in_steps) << file;
}

TEST(OpsOfFixtures, GraphAndEagerHaveTheirKernels) {
  const Traced eager = Traced::of_file(kFixtures + "bert_small.pt.trace.json.gz");
  check_sums(eager, "bert_small");
  for (const TracedOp& op : eager.ops.ops) {
    EXPECT_EQ(eager.timeline.events[op.event].role, Role::kOp);  // each kernel has its op
  }
  const std::vector<OpRow> rows = eager.rows();
  EXPECT_EQ(eager.name(rows[0]), "aten::linear");
  EXPECT_EQ(rows[0].count, 36);  // 12 layers, 3 steps
  EXPECT_EQ(rows[0].precision_path, Precision::kTf32);
  // 12 layers of 2 x 128 tokens x (768 x 2304 + 768 x 768 + 2 x 768 x 3072).
  EXPECT_EQ(eager.flops(ops::OpClass::kMatmul), 12LL * 2 * 128 * 768 * (2304 + 768 + 2 * 3072));
  for (const char* name : {"bert_small_graph", "resnet50_b1_graph"}) {
    const Traced graph = Traced::of_file(kFixtures + name + ".pt.trace.json.gz");
    check_sums(graph, name);
    const auto kernels = std::count_if(graph.ops.ops.begin(), graph.ops.ops.end(), [&](const TracedOp& op) {
      return graph.timeline.events[op.event].role == Role::kKernel;
    });
    EXPECT_EQ(kernels, total_of(graph.timeline, Role::kKernel).count);
  }
}

// What takes at least a hundredth of the device's time has FLOPs and bytes, but for lists of tensors, whose
// element type is not recorded.
void check_costs(const Traced& traced, const std::string& file) {
  const std::vector<OpRow> rows = traced.rows();
  std::int64_t all = 0;
  for (const OpRow& row : rows) all += row.charge_ns;
  for (const OpRow& row : rows) {
    if (100 * row.charge_ns < all || traced.timeline.events[row.event].role != Role::kOp) continue;
    const std::string what = file + " " + std::string(traced.name(row));
    const bool list = traced.name(row) == "aten::cat";
    EXPECT_TRUE(row.flops) << what;
    EXPECT_TRUE(row.bytes || list) << what;
    EXPECT_TRUE(row.precision_path || list) << what;
  }
}

TEST(OpsOfTraces, SumsAreExactAndWhatTakesTimeHasACost) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << "there is no ../shared/traces/h200";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kShared)) {
    if (entry.path().extension() != ".gz") continue;
    const Traced traced = Traced::of_file(entry.path());
    check_sums(traced, entry.path().filename());
    check_costs(traced, entry.path().filename());
    ++files;
  }
  EXPECT_GE(files, 20U);
}

// What `explain` aligns by: another precision, layout or cause of waiting leaves the ops as they are.
TEST(OpsOfTraces, PairsOfOneModelHaveTheSameOps) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << "there is no ../shared/traces/h200";
  const auto called = [](const char* name) {
    const Traced traced = Traced::of_file(kShared + name + ".pt.trace.json.gz");
    std::vector<std::string> ops;
    for (const TracedOp& op : traced.ops.ops) {
      const Event& event = traced.timeline.events[op.event];
      if (op.step != traced.averaged.front() || op.kernels == 0) continue;
      const bool shaped = event.role == Role::kOp && event.detail != kNoDetail;
      ops.push_back(
          std::string(traced.timeline.texts[event.name]) + " " +
          std::string(shaped ? traced.timeline.texts[traced.timeline.ops[event.detail].shapes] : ""));
    }
    return ops;
  };
  const std::pair<const char*, const char*> pairs[] = {
      {"tracker_tf32", "tracker_cold"}, {"tracker_tf32", "tracker_no_alloc_cache"},
      {"bert_tf32", "bert_fp32"},       {"resnet50_b64_fp16", "resnet50_b64_fp16_cl"},
      {"bert_small", "bert_item_sync"}, {"mobilenet_b64_fp16", "mobilenet_b64_fp16_cl"},
      {"tracker_tf32", "tracker_fp32"}};
  for (const auto& [a, b] : pairs) EXPECT_EQ(called(a), called(b)) << a << " " << b;
}

// Against figures that others published, and formulas.
TEST(OpsOfTraces, FlopsOfKnownModels) {
  if (!std::filesystem::exists(kShared)) GTEST_SKIP() << "there is no ../shared/traces/h200";
  const auto traced = [](const char* name) { return Traced::of_file(kShared + name + ".pt.trace.json.gz"); };
  const auto products = [](const Traced& of) {
    return of.flops(ops::OpClass::kConvolution) + of.flops(ops::OpClass::kDepthwiseConvolution) +
           of.flops(ops::OpClass::kMatmul);
  };
  // ResNet-50: 4.089 GMAC, MobileNetV2: 0.3008 GMAC (fvcore, ptflops).
  for (const char* name : {"resnet50_b64_fp16", "resnet50_b64_fp16_cl"}) {
    EXPECT_EQ(products(traced(name)), 2 * 64 * 4'089'184'256LL) << name;
  }
  for (const char* name : {"mobilenet_b64_fp16", "mobilenet_b64_fp16_cl"}) {
    EXPECT_EQ(products(traced(name)), 2 * 64 * 300'774'272LL) << name;
  }
  // 12 layers of a width of 768: 4 and 8 times its square a token, and attention.
  const std::int64_t bert = 12LL * 2 * (16 * 256) * 12 * 768 * 768;
  EXPECT_EQ(products(traced("bert_tf32")), bert);
  EXPECT_EQ(products(traced("bert_fp32")), bert);
  EXPECT_EQ(traced("bert_tf32").flops(ops::OpClass::kAttention), 12LL * 16 * 12 * 256 * 256 * (4 * 64 + 16));
  EXPECT_EQ(products(traced("bert_math_attention")), bert + 12LL * 16 * 12 * 256 * 256 * 4 * 64);
  // ViT-B/16: 196 patches of 16 x 16 x 3, then 197 tokens; a head of 1000.
  EXPECT_EQ(products(traced("vit_b16_tf32")),
            2LL * 32 * (196 * 768 * 768 + 12LL * 197 * 12 * 768 * 768 + 768 * 1000));
  // The same model whatever its arithmetic.
  EXPECT_EQ(products(traced("tracker_tf32")), products(traced("tracker_fp32")));
}

}  // namespace
}  // namespace deepgap::trace
