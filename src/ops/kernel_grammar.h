// How the names of kernels spell out their arithmetic: what patterns cannot say.
//
//   kXmma     sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_...   in memory A and C, then {factors}{accumulator}
//   kBlas     volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_nn     [storage] {accumulator}{instruction}{gemm|cudnn}
//   kCutlass  cutlass_80_tensorop_f16_s16816gemm_f16_...     [C] {accumulator}{instruction}[factors]gemm [A]
//   kNvjet    nvjet_sm90_hsh_128x256_64x4_...                {A and B}{accumulator}{D}, or
//   {A}{B}{C}{accumulator}{D} kTensile  Cijk_Ailk_Bljk_HHS_BH_..._MT128x128x16_MI32x32x8x1_  {A and
//   B}{D}{accumulator} kTypes    softmax_warp_forward<c10::Half, float, float, 8, ...> kWords
//   miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1
//
// NVIDIA has not published its names' grammar: kXmma, kBlas and kNvjet are read as the traces show them,
// whose precisions are known. CUTLASS and Tensile are written so by their sources.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/precision.h"
#include "ops/kernel_table.h"
#include "ops/kernel_text.h"

namespace deepgap::ops {

struct KernelArithmetic {
  std::optional<Precision> precision;
  std::optional<Precision> accumulation;
  bool tensor_cores = false;
};

// Runs of letters and digits.
std::vector<std::string_view> words_of(std::string_view text);
// What the pattern's grammar reads; the architecture settles what a bare instruction shape multiplies.
KernelArithmetic read_arithmetic(const KernelPattern& pattern, const KernelText& name,
                                 const std::vector<std::string_view>& words, std::string_view architecture);

}  // namespace deepgap::ops
