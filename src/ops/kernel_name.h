// What the name of a device kernel says of the algorithm that ran: the word of its family, the arithmetic of
// its multiply-adds, its tile, the architecture that it was made for.
//
//   parse_kernel_name("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x64x16_...")
//     -> family kImplicitGemm, library "cudnn", precision TF32, accumulation FP32, tile 128x64x16, "sm80"
//   parse_kernel_name("void at::native::vectorized_elementwise_kernel<4, ...>")  -> family kElementwise
//
// The patterns stand in data/kernel_names.toml, with the origin of each; they are compiled in.
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
  std::string_view
      library;  // "cudnn", "cublas", "cutlass", "triton", "miopen", "rocblas", "aten", ...; "" unknown
  // Of the multiply-adds, or of the elements where there are none; TF32 is told from FP32. Absent: the name
  // does not say.
  std::optional<Precision> precision;
  std::optional<Precision> accumulation;
  bool tensor_cores = false;  // the name says that matrix units ran it (MFMA and WMMA too)
  std::optional<std::array<std::int32_t, 3>> tile;  // M, N, K of a block; 0 where a part is not said
  std::string architecture;                         // "sm80", "gfx942"; "" where it is not said

  bool operator==(const KernelName&) const = default;
};

// Mangled names are read too. Never fails: what a name does not say is absent. Linear in the name's length.
KernelName parse_kernel_name(std::string_view name);

}  // namespace deepgap::ops
