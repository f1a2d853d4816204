// What the name of a device kernel says of the algorithm that ran: the word of its family, the arithmetic of
// its multiply-adds, its tile, the architecture that it was made for.
//
//   parse_kernel_name("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_..._tilesize128x64x16_..._cudnn")
//     -> family kImplicitGemm, library "cudnn", precision TF32, accumulation FP32, tensor cores,
//        tile 128x64x16, architecture "sm80"
//   parse_kernel_name("void (anonymous namespace)::softmax_warp_forward<c10::Half, float, float, 7,
//   ...>(...)")
//     -> family kSoftmax, library "aten", precision FP16, accumulation FP32
//
// The patterns stand in data/kernel_names/, with the origin of each; they are compiled in.
// docs/kernel-names.md says what is read out of a name, and what a name cannot say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/precision.h"

namespace deepgap::ops {

enum class KernelFamily {
  kImplicitGemm,  // convolution as a matrix product that is never laid out in memory
  kWinograd,
  kFft,     // convolutions by Fourier transforms: the transforms; their products are kGemm
  kDirect,  // convolution without any of these
  kDepthwise,
  kGemm,
  kAttention,  // fused scaled dot product attention
  kElementwise,
  kReduction,
  kNormalisation,
  kSoftmax,
  kPooling,
  kIndexing,  // gather, scatter, embedding, grid sampling, sort
  kLayout,    // transposes, NCHW to NHWC and back, im2col
  kCast,
  kMemory,  // copies and fills
  kRandom,
  kCommunication,  // NCCL, RCCL
  kUnknown,
};

// "implicit_gemm", "winograd", ...
std::string_view name_of(KernelFamily family);

struct KernelName {
  KernelFamily family = KernelFamily::kUnknown;
  // Which ships it: "cudnn", "cublas", "cutlass", "triton", "miopen", "rocblas", "aten", ...; "" unknown, or
  // several do. Of static storage.
  std::string_view library;
  // Of the multiply-adds, or of the elements where there are none; TF32 is told from FP32. What is kept in
  // half and multiplied in float is FP32 here. NVIDIA's tensor cores make FP32 of three TF32 products for
  // each. Absent: the name does not say.
  std::optional<Precision> precision;
  // What they are added up in. Absent too for INT8, which adds up in INT32, a type that Precision lacks.
  std::optional<Precision> accumulation;
  // Matrix units ran it (MFMA and WMMA too): the name says so, or all kernels of that name are so.
  bool tensor_cores = false;
  std::optional<std::array<std::int32_t, 3>> tile;  // M, N, K of a block; 0 where a part is not said
  std::string architecture;  // that it was made for, not that it ran on: "sm80", "gfx942"; "" where not said

  bool operator==(const KernelName&) const = default;
};

// Mangled names are read too, and names that were cut. Never fails: what a name does not say is absent.
// Linear in the name's length, of which 64 KiB are read; some ten microseconds, so ask once for each distinct
// name.
KernelName parse_kernel_name(std::string_view name);

}  // namespace deepgap::ops
