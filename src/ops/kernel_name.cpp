#include "ops/kernel_name.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/kernel_grammar.h"
#include "ops/kernel_mangled.h"
#include "ops/kernel_table.h"
#include "ops/kernel_text.h"

namespace deepgap::ops {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<std::string_view, 19> kFamilies{
    "implicit_gemm", "winograd",  "fft",           "direct",        "depthwise", "gemm",     "attention",
    "elementwise",   "reduction", "normalisation", "softmax",       "pooling",   "indexing", "layout",
    "cast",          "memory",    "random",        "communication", "unknown"};
static_assert(kFamilies.size() == static_cast<std::size_t>(KernelFamily::kUnknown) + 1);

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// The generation by name that cuBLAS, cuDNN and TensorRT begin with.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kGenerations{{{"kepler", "sm35"},
                                                                                     {"maxwell", "sm50"},
                                                                                     {"pascal", "sm60"},
                                                                                     {"volta", "sm70"},
                                                                                     {"turing", "sm75"},
                                                                                     {"ampere", "sm80"},
                                                                                     {"hopper", "sm90"}}};

// "sm80" from sm80, Sm80, sm_80, cutlass_80 and ampere; "gfx942" from gfx942 and Tensile's ISA942.
std::string read_architecture(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view rest = word.size() > 2 ? word.substr(2) : std::string_view{};
    if (word.starts_with("sm") || word.starts_with("Sm") || word.starts_with("SM")) {
      std::string_view number = rest;
      if (number.empty() && i + 1 < words.size()) number = words[i + 1];
      const bool letter = !number.empty() && (number.back() == 'a' || number.back() == 'f');
      if (letter) number.remove_suffix(1);
      if (all_digits(number) && (number.size() == 2 || number.size() == 3)) return "sm" + std::string(number);
    }
    if (word == "cutlass" && i + 1 < words.size() && all_digits(words[i + 1]) && words[i + 1].size() <= 3) {
      return "sm" + std::string(words[i + 1]);
    }
    const bool isa = word.starts_with("ISA");
    if ((isa || word.starts_with("gfx")) && word.size() >= 4 && word.size() <= 7 && is_digit(word[3]) &&
        word.substr(3) != "000") {
      return "gfx" + std::string(word.substr(3));
    }
    if (word.size() > 7) continue;
    const std::string small = lower(word);  // Volta_hmma_...
    for (const auto& [name, architecture] : kGenerations) {
      if (small == name) return std::string(architecture);
    }
  }
  return {};
}

// "128x64x32" -> 128, 64, 32; up to four, empty where the word is anything else.
std::vector<std::int32_t> parse_extents(std::string_view word) {
  std::vector<std::int32_t> extents;
  while (true) {
    std::int32_t value = 0;
    std::size_t digits = 0;
    while (digits < word.size() && digits < 5 && is_digit(word[digits]))
      value = value * 10 + (word[digits++] - '0');
    if (digits == 0 || digits == 5 || value == 0) return {};
    extents.push_back(value);
    word.remove_prefix(digits);
    if (word.empty()) return extents;
    if (word.front() != 'x' || extents.size() == 4) return {};
    word.remove_prefix(1);
  }
}

using Tile = std::array<std::int32_t, 3>;

// 128x64x32, 128x64x32x1 (and split or stages), 128x64_32x5 (K and stages), 128x64_..._stages_32x5, and what
// libraries put before them.
std::optional<Tile> read_tile(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    for (const std::string_view before : {"tilesize", "tile", "bt", "MT"}) {
      if (word.starts_with(before)) {
        word.remove_prefix(before.size());
        break;
      }
    }
    const std::vector<std::int32_t> extents = parse_extents(word);
    if (i > 0 && words[i - 1].starts_with("SM"))
      continue;  // an instruction's shape: SM90_64x128x16_F32F16F16
    if (extents.size() >= 3) return Tile{extents[0], extents[1], extents[2]};
    if (extents.size() != 2) continue;
    Tile tile{extents[0], extents[1], 0};
    std::vector<std::int32_t> depth;
    if (i + 1 < words.size()) depth = parse_extents(words[i + 1]);
    for (std::size_t j = i + 1; depth.size() != 2 && j + 1 < words.size(); ++j) {
      if (words[j] == "stages") depth = parse_extents(words[j + 1]);
    }
    if (depth.size() == 2) tile[2] = depth[0];
    return tile;
  }
  return std::nullopt;
}

// Flash_fwd_kernel_traits<head dimension, queries, keys, ...>
std::optional<Tile> flash_tile(const KernelText& name) {
  constexpr std::string_view kTraits = "wd_kernel_traits<";
  const std::size_t at = name.arguments.find(kTraits);
  if (at == std::string_view::npos) return std::nullopt;
  Tile tile{};
  const std::vector<std::string_view> arguments =
      split_arguments(name.arguments.substr(at + kTraits.size(), 100));
  for (std::size_t i = 0; i < 3; ++i) {
    if (i >= arguments.size()) return std::nullopt;
    std::string_view argument = arguments[i];
    if (argument.starts_with("(int)")) argument.remove_prefix(5);
    const std::vector<std::int32_t> number = parse_extents(argument);
    if (number.size() != 1) return std::nullopt;
    tile[(i + 2) % 3] = number[0];
  }
  return tile;
}

bool has_tile(KernelFamily family) {
  return family == KernelFamily::kImplicitGemm || family == KernelFamily::kWinograd ||
         family == KernelFamily::kGemm || family == KernelFamily::kAttention;
}

// Which of NVIDIA's libraries ships an xmma kernel: its suffix says.
std::string_view xmma_library(std::string_view name) {
  if (has(name, "_cublas")) return "cublas";
  if (has(name, "_cudnn")) return "cudnn";
  if (has(name, "_trt")) return "tensorrt";
  return "";
}

bool only(const Words& words, std::initializer_list<std::string_view> known) {
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return all_digits(word) || std::find(known.begin(), known.end(), word) != known.end();
  });
}

// Inductor names a kernel after what it fused: triton_red_fused_native_layer_norm_3. Of a template the
// product counts; of the rest the rarest step: a normalisation has element-wise steps too.
KernelFamily triton_family(std::string_view name) {
  const auto any = [name](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [name](std::string_view part) { return has(name, part); });
  };
  if (any({"flex_attention", "scaled_dot_product"})) return KernelFamily::kAttention;
  if (name.starts_with("triton_convolution") ||
      (name.starts_with("triton_tem_") && has(name, "convolution"))) {
    return KernelFamily::kImplicitGemm;
  }
  if (name.starts_with("triton_tem_") || name.starts_with("triton_mm") || name.starts_with("triton_bmm")) {
    return KernelFamily::kGemm;
  }
  const bool reduces = name.starts_with("triton_red_") || name.starts_with("triton_per_");
  if (reduces) {
    if (any({"softmax"})) return KernelFamily::kSoftmax;
    if (any({"layer_norm", "batch_norm", "group_norm", "rms_norm", "rsqrt"}))
      return KernelFamily::kNormalisation;
    return KernelFamily::kReduction;
  }
  if (!name.starts_with("triton_poi_")) {
    return has(name, "scan") ? KernelFamily::kReduction
           : has(name, "_fused_") || name.starts_with("triton__") || name.starts_with("triton_for")
               ? KernelFamily::kElementwise
               : KernelFamily::kUnknown;
  }
  const std::size_t fused = name.find("fused_");
  if (fused == std::string_view::npos) return KernelFamily::kElementwise;
  const Words steps = words_of(name.substr(fused + 6));
  // Inductor gives no name to a fusion of views and constants only.
  if (steps.empty() || only(steps, {})) return KernelFamily::kElementwise;
  if (only(steps, {"unsafe", "view", "clone", "permute", "transpose", "squeeze", "unsqueeze", "select",
                   "slice", "expand", "t", "as", "strided", "reshape", "contiguous", "alias"})) {
    return KernelFamily::kLayout;  // of a convolution, what is fused beside it is the layout of its operands
  }
  if (only(steps, {"to", "copy", "view", "unsafe", "clone", "permute", "transpose", "unsqueeze", "t"})) {
    return KernelFamily::kCast;
  }
  if (only(steps, {"arange", "full", "zeros", "ones", "like", "new", "empty", "fill", "cat", "constant",
                   "pad", "nd", "zero", "copy", "lift", "fresh", "scalar", "tensor"})) {
    return KernelFamily::kMemory;
  }
  if (any({"max_pool", "avg_pool"})) return KernelFamily::kPooling;
  if (any({"embedding", "index", "gather", "scatter", "grid_sampler", "upsample", "sort"})) {
    return KernelFamily::kIndexing;
  }
  if (any({"bernoulli", "rand"})) return KernelFamily::kRandom;
  if (any({"batch_norm"})) return KernelFamily::kNormalisation;
  return KernelFamily::kElementwise;
}

}  // namespace

std::string_view name_of(KernelFamily family) {
  return kFamilies[static_cast<std::size_t>(family)];
}

KernelName parse_kernel_name(std::string_view name) {
  name = name.substr(0, kLongestKernelName);
  std::string spelled;
  if (is_mangled(name)) spelled = spell_out(name);
  const KernelText text = take_apart(spelled.empty() ? name : std::string_view(spelled));
  const Words words = words_of(text.text);

  KernelName known;
  known.architecture = read_architecture(words);
  const KernelPattern* const pattern = first_match(kernel_table(), text);
  if (pattern == nullptr) return known;
  known.family = pattern->family;
  known.library = pattern->library;
  if (known.library.empty() && has(text.name, "xmma_")) known.library = xmma_library(text.name);
  if (pattern->grammar == KernelGrammar::kTriton) known.family = triton_family(text.name);
  const KernelArithmetic arithmetic = read_arithmetic(*pattern, text, words, known.architecture);
  known.precision = arithmetic.precision;
  known.accumulation = arithmetic.accumulation;
  known.tensor_cores = arithmetic.tensor_cores;
  if (has_tile(known.family)) {
    known.tile = flash_tile(text);
    if (!known.tile) known.tile = read_tile(words);
  }
  return known;
}

}  // namespace deepgap::ops
