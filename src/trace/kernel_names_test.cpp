// How much of the kernels' time in real traces ops/kernel_name.h understands, and whether what it says agrees
// with what the traces know otherwise: the op that launched a kernel, the precision that was set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/kernel_name.h"
#include "trace/kineto/kineto.h"

namespace deepgap::trace {
namespace {

using F = ops::KernelFamily;

const std::string kShared = DEEPGAP_SOURCE_FOLDER "/../shared/traces/";

std::vector<std::string> traces_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kShared + folder, error)) {
    const std::string path = entry.path().string();
    if (path.ends_with(".json.gz")) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Time of kernels by what their names say.
struct Understood {
  std::int64_t total_ns = 0;
  std::int64_t unknown_ns = 0;
  std::map<std::string, std::int64_t> unknown;                // by name
  std::map<std::optional<Precision>, std::int64_t> products;  // of convolutions, matrix products, attention
  std::set<std::optional<Precision>> matrix_products;
  int checked = 0;  // names of kernels that an op launched of which it is known what its kernels do
  std::vector<std::string> contradictions;
};

bool is_product(F family) {
  return family == F::kImplicitGemm || family == F::kWinograd || family == F::kDirect ||
         family == F::kDepthwise || family == F::kGemm || family == F::kAttention;
}

// The families that an op's kernels may have; what goes with it (copies, casts, a split sum) is let pass.
const std::map<std::string, std::set<F>>& families_of_ops() {
  static const std::set<F> kConvolution{F::kImplicitGemm, F::kWinograd, F::kFft,      F::kDirect,
                                        F::kDepthwise,    F::kGemm,     F::kIndexing, F::kElementwise};
  static const std::map<std::string, std::set<F>> kFamilies{
      {"aten::cudnn_convolution", kConvolution},
      {"aten::_conv_depthwise2d", {F::kDepthwise}},
      {"aten::addmm", {F::kGemm}},
      {"aten::bmm", {F::kGemm}},
      {"aten::mm", {F::kGemm}},
      {"aten::_efficient_attention_forward", {F::kAttention}},
      {"aten::_flash_attention_forward", {F::kAttention}},
      {"aten::native_layer_norm", {F::kNormalisation}},
      {"aten::cudnn_batch_norm", {F::kNormalisation}},
      {"aten::_softmax", {F::kSoftmax}},
      {"aten::_log_softmax", {F::kSoftmax}},
      {"aten::max_pool2d_with_indices", {F::kPooling}},
      {"aten::gelu", {F::kElementwise}},
      {"aten::add", {F::kElementwise}},
      {"aten::add_", {F::kElementwise}},
      {"aten::mul", {F::kElementwise}},
      {"aten::clamp_min_", {F::kElementwise}},
      {"aten::mean", {F::kReduction}},
      {"aten::sum", {F::kReduction}},
      {"aten::index", {F::kIndexing}},
      {"aten::gather", {F::kIndexing}},
      {"aten::cudnn_grid_sampler", {F::kIndexing}},
      {"aten::copy_", {F::kLayout, F::kCast}},
      {"aten::cat", {F::kMemory}},
      {"aten::fill_", {F::kMemory}},
  };
  return kFamilies;
}

Understood understand(const Timeline& timeline) {
  Understood found;
  std::unordered_map<std::uint64_t, std::uint32_t> op_names;
  for (const Event& event : timeline.events) {
    if (event.role == Role::kOp && event.op != kNoId) op_names[event.op] = event.name;
  }
  std::unordered_map<std::uint32_t, ops::KernelName> names;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kKernel) continue;
    const std::string name(timeline.texts[event.name]);
    auto [known, added] = names.try_emplace(event.name);
    if (added) known->second = ops::parse_kernel_name(name);
    const F family = known->second.family;
    found.total_ns += event.duration_ns;
    if (family == F::kUnknown) {
      found.unknown_ns += event.duration_ns;
      found.unknown[name] += event.duration_ns;
    }
    if (family == F::kGemm) found.matrix_products.insert(known->second.precision);
    if (is_product(family)) found.products[known->second.precision] += event.duration_ns;

    const auto op = op_names.find(event.op);
    if (op == op_names.end() || !added) continue;
    const auto& expected = families_of_ops();
    const auto allowed = expected.find(std::string(timeline.texts[op->second]));
    static const std::set<F> kBeside{F::kLayout, F::kCast, F::kMemory, F::kReduction};
    if (allowed == expected.end()) continue;
    ++found.checked;
    if (!allowed->second.contains(family) && !kBeside.contains(family)) {
      found.contradictions.push_back(allowed->first + " launched '" + std::string(name_of(family)) +
                                     "': " + name);
    }
  }
  return found;
}

Understood understand_file(const std::string& path) {
  Result<ByteSource> source = ByteSource::open(path);
  if (!source) return {};
  const Result<Timeline> timeline = read_kineto(*source);
  return timeline ? understand(*timeline) : Understood{};
}

void expect_understood(const std::string& path, const Understood& found) {
  EXPECT_LE(found.unknown_ns * 100, found.total_ns) << path;  // one per cent
  if (found.unknown_ns * 100 > found.total_ns) {
    for (const auto& [name, time] : found.unknown) ADD_FAILURE() << time << " ns in " << name;
  }
  EXPECT_THAT(found.contradictions, testing::IsEmpty()) << path;
}

TEST(KernelNames, OfTheKnownCausePairsAreUnderstood) {
  const std::vector<std::string> paths = traces_in("h200");
  if (paths.empty()) GTEST_SKIP() << "there is no ../shared/traces/h200";
  int checked = 0;
  for (const std::string& path : paths) {
    const Understood found = understand_file(path);
    checked += found.checked;
    EXPECT_GT(found.total_ns, 0) << path;
    expect_understood(path, found);
    std::int64_t products = 0;
    for (const auto& [precision, time] : found.products) products += time;
    const auto share = [&](Precision precision) {
      const auto time = found.products.find(precision);
      return time == found.products.end() ? 0.0
                                          : static_cast<double>(time->second) / static_cast<double>(products);
    };
    const std::string file = std::filesystem::path(path).filename().string();
    // What the case's settings allowed, and no more: TF32 off is FP32 only.
    if (file.find("fp32") != std::string::npos) {
      EXPECT_EQ(share(Precision::kFp32), 1.0) << path;
    } else if (file.find("fp16") != std::string::npos) {
      EXPECT_EQ(share(Precision::kTf32), 0.0) << path;
      EXPECT_GT(share(Precision::kFp16), file.starts_with("resnet") ? 0.8 : 0.2) << path;
    } else if (file.starts_with("bert") || file.starts_with("vit")) {
      // Attention of floats and cuDNN's choice for the patches stay FP32 where TF32 is allowed; cuBLAS takes
      // it.
      EXPECT_EQ(found.matrix_products, std::set<std::optional<Precision>>{Precision::kTf32}) << path;
      EXPECT_GT(share(Precision::kTf32), 0.5) << path;
    } else if (file.find("tf32") != std::string::npos) {
      EXPECT_EQ(share(Precision::kFp16), 0.0) << path;
      EXPECT_GT(share(Precision::kTf32), 0.5) << path;
    }
  }
  EXPECT_GE(checked, 300);
}

TEST(KernelNames, OfThirdPartyTracesAreUnderstood) {
  const std::vector<std::string> paths = traces_in("third-party/kineto");
  if (paths.empty()) GTEST_SKIP() << "there is no ../shared/traces/third-party";
  int with_kernels = 0;
  for (const std::string& path : paths) {
    const Understood found = understand_file(path);
    with_kernels += found.total_ns > 0 ? 1 : 0;
    expect_understood(path, found);
  }
  EXPECT_GE(with_kernels, 10);
}

}  // namespace
}  // namespace deepgap::trace
