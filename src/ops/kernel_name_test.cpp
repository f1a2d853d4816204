#include "ops/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "ops/kernel_mangled.h"
#include "ops/kernel_text.h"
#include "ops/kernel_types.h"

namespace deepgap::ops {
namespace {

std::string or_dash(std::string_view text) {
  return text.empty() ? "-" : std::string(text);
}

// As testdata/kernel_names.expect has it.
std::string columns(const KernelName& name) {
  const auto type = [](const std::optional<Precision>& precision) {
    return precision ? std::string(name_of(*precision)) : "-";
  };
  std::string tile = "-";
  if (name.tile) {
    const auto& [m, n, k] = *name.tile;
    tile = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  }
  return std::string(name_of(name.family)) + " " + or_dash(name.library) + " " + type(name.precision) + " " +
         type(name.accumulation) + " " + (name.tensor_cores ? "tensor_cores" : "-") + " " + tile + " " +
         or_dash(name.architecture);
}

TEST(KernelName, SaysWhatIsKnownOfEach) {
  std::ifstream file(std::string(DEEPGAP_SOURCE_FOLDER) + "/src/ops/testdata/kernel_names.expect");
  ASSERT_TRUE(file);
  std::string name;
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    if (!line.starts_with("    ")) {
      name = line;
      continue;
    }
    const std::size_t comment = line.find("#");
    EXPECT_EQ(columns(parse_kernel_name(name)), trim(line.substr(0, comment)))
        << name << "\n  seen: " << line.substr(comment + 1);
    ++count;
  }
  EXPECT_GE(count, 120);
}

TEST(KernelName, FamiliesHaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(KernelFamily::kUnknown); ++i) {
    names.emplace_back(name_of(static_cast<KernelFamily>(i)));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(std::count(names.begin(), names.end(), ""), 0);
}

TEST(KernelName, MangledNamesSayTheSame) {
  // Pairs that c++filt confirms.
  const std::string_view pairs[][2] = {
      {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_",
       "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
       "std::array<char*, "
       "3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"},
      {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c104HalfENS0_7MeanOpsIS4_ffS4_EEjS4_"
       "Li4ELi4EEEEEvT1_",
       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::Half, "
       "at::native::MeanOps<c10::Half, "
       "float, float, c10::Half>, unsigned int, c10::Half, 4, 4> >(at::native::ReduceOp<c10::Half, "
       "at::native::MeanOps<c10::Half, float, float, c10::Half>, unsigned int, c10::Half, 4, 4>)"},
      // The op's lambda decides, though the function that it stands in has a double among its parameters.
      {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZNS0_3invERKNS_6TensorEdENKUlvE_"
       "clEvEUlN3c104HalfEE_"
       "St5arrayIPcLm2EEEEviT0_T1_",
       "void at::native::vectorized_elementwise_kernel<4, at::native::inv(at::Tensor const&, double)::"
       "{lambda()#1}::operator()() const::{lambda(c10::Half)#1}, std::array<char*, 2ul> >(int)"},
      {"_ZN12_GLOBAL__N_120softmax_warp_forwardIN3c108BFloat16EffLi7ELb0ELb0EEEvPT0_PKT_iiiPKbib",
       "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, float, float, 7, false, "
       "false>(float*)"},
      {"_ZN7cutlass7Kernel2I47cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4EEvNT_6ParamsE",
       "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>("
       "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4::Params)"},
      {"_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE",
       "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"},
      {"_Z11flip_filterIffEvPT0_PKT_iiii", "void flip_filter<float, float>(float*, float const*, int)"},
  };
  for (const auto& [mangled, plain] : pairs) {
    EXPECT_EQ(columns(parse_kernel_name(mangled)), columns(parse_kernel_name(plain))) << mangled;
    EXPECT_NE(parse_kernel_name(mangled).family, KernelFamily::kUnknown) << mangled;
  }
}

TEST(KernelName, ACutNameSaysWhatItStillHolds) {
  EXPECT_EQ(
      columns(parse_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFun")),
      "elementwise aten - - - - -");
  EXPECT_EQ(columns(parse_kernel_name("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x")),
            "gemm cutlass tf32 fp32 tensor_cores - sm80");
  EXPECT_EQ(columns(parse_kernel_name("ampere_h16816gemm_99999x128_nn")),
            "gemm cublas fp16 fp16 tensor_cores - sm80");
  EXPECT_EQ(columns(parse_kernel_name("")), "unknown - - - - - -");
}

// Hostile names neither crash nor take more than their length: those that nest, that repeat what patterns
// look for, and a mangled one whose every substitution doubles what stands before it.
TEST(KernelName, HostileNamesAreReadInLinearTime) {
  constexpr std::size_t kMegabyte = 1 << 20;
  std::string doubling = "_Z1fI1A";
  for (int i = 0; i < 5000; ++i) doubling += "IS_S_";
  const auto repeat = [](std::string_view part, std::size_t size) {
    std::string text;
    while (text.size() < size) text += part;
    return text;
  };
  const std::string names[] = {
      std::string(kMegabyte, '<'),
      std::string(kMegabyte, '('),
      std::string(kMegabyte, '_'),
      std::string(kMegabyte, ' '),
      std::string(kMegabyte, '9'),
      std::string(kMegabyte, '\0'),
      repeat("a::", kMegabyte),
      repeat("x<", kMegabyte),
      "at::native::f<" + repeat("{lambda(", kMegabyte),
      "at::native::f<" + repeat("{lambda(", kMegabyte) + ")",
      "void at::native::elementwise_kernel<" + repeat("direct_copy_kernel_cud", kMegabyte),
      repeat("cutlass_tensorop_", kMegabyte),
      "cutlass_80_tensorop_s1688gemm_" + repeat("f16_", kMegabyte),
      "Cijk_Ailk_Bljk_" + repeat("B", kMegabyte),
      "xmma_gemm_" + repeat("f32f32_", kMegabyte),
      "ampere_sgemm_" + repeat("128x", kMegabyte),
      "void f<" + repeat("float, ", kMegabyte) + ">",
      "_Z" + std::string(kMegabyte, '9'),
      "_ZN" + repeat("1a", kMegabyte),
      "_ZN" + std::string(kMegabyte, 'N'),
      "_Z1fI" + repeat("I", kMegabyte),
      "_Z1fI" + repeat("Li1E", kMegabyte),
      "_Z1fI" + repeat("ZN1aEU", kMegabyte),
      "_Z1f" + std::string(kMegabyte, 'E'),
      "_ZN1f99999999999999999999aE",
      doubling,
  };
  for (const std::string& name : names) {
    const KernelName known = parse_kernel_name(name);
    EXPECT_LE(known.architecture.size(), 8U);
    EXPECT_EQ(known, parse_kernel_name(std::string_view(name).substr(0, kLongestKernelName)));
    // The steps by themselves, without that limit: of quadratic time they would be hours.
    const std::string spelled = is_mangled(name) ? spell_out(name) : name;
    const KernelText text = take_apart(spelled);
    EXPECT_LE(split_arguments(text.arguments).size(), name.size());
    (void)first_type(text.arguments);
    (void)lambda_type(text.arguments);
  }
}

}  // namespace
}  // namespace deepgap::ops
