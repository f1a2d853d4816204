#include "hw/microarchitecture.h"

#include <gtest/gtest.h>

namespace deepgap::hw {
namespace {

X86Model intel(int model, int stepping, std::string_view name, bool avx512 = true) {
  return {"GenuineIntel", 6, model, stepping, name, avx512, false};
}

// A Xeon Platinum 8380 has 40 cores at 2.3 GHz: 5.9 TFLOP/s in FP32 = 40 x 2.3e9 x 64, as Intel's APP metrics
// count it.
TEST(Microarchitecture, IntelServers) {
  const auto ice_lake = find_x86(intel(106, 6, "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz")).value();
  EXPECT_EQ(ice_lake.name, "Ice Lake-SP");
  EXPECT_EQ(ice_lake.operations.fp32_vector, 64);
  EXPECT_EQ(ice_lake.operations.fp64_vector, 32);
  EXPECT_EQ(ice_lake.operations.int8_vector, 256);
  EXPECT_FALSE(ice_lake.operations.int8_matrix.has_value());

  // Intel states 2048 INT8 and 1024 BF16 operations a cycle and core for AMX.
  const auto sapphire = find_x86(intel(143, 8, "Intel(R) Xeon(R) Platinum 8480+")).value();
  EXPECT_EQ(sapphire.operations.int8_matrix, 2048);
  EXPECT_EQ(sapphire.operations.bf16_matrix, 1024);
}

TEST(Microarchitecture, PartsOfOneModelWithOneOrTwoWideUnits) {
  EXPECT_EQ(find_x86(intel(85, 4, "Intel(R) Xeon(R) Silver 4108 CPU @ 1.80GHz"))->operations.fp32_vector, 32);
  EXPECT_EQ(find_x86(intel(85, 4, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"))->operations.fp32_vector, 64);
  EXPECT_EQ(find_x86(intel(85, 4, "Intel(R) Xeon(R) Gold 5118 CPU @ 2.30GHz"))->operations.fp32_vector, 32);
  EXPECT_FALSE(find_x86(intel(85, 4, "Intel(R) Xeon(R) Gold 6148"))->operations.int8_vector.has_value());
  EXPECT_EQ(find_x86(intel(85, 7, "Intel(R) Xeon(R) Gold 6248"))->operations.int8_vector, 256);
  EXPECT_EQ(find_x86(intel(85, 7, "Intel(R) Xeon(R) Gold 6248"))->name, "Cascade Lake");
  // A cloud hides the part's name: known family, no figures.
  const auto cloud = find_x86(intel(85, 7, "Intel(R) Xeon(R) CPU @ 2.00GHz")).value();
  EXPECT_FALSE(cloud.operations.fp32_vector.has_value());
}

TEST(Microarchitecture, HiddenAvx512HalvesTheVectors) {
  EXPECT_EQ(find_x86(intel(106, 6, "", false))->operations.fp32_vector, 32);
  EXPECT_FALSE(find_x86(intel(106, 6, "", false))->operations.int8_vector.has_value());
}

TEST(Microarchitecture, HybridCores) {
  X86Model cpu = intel(186, 2, "13th Gen Intel(R) Core(TM) i7-1370P", false);
  EXPECT_EQ(find_x86(cpu)->name, "Raptor Lake");
  EXPECT_EQ(find_x86(cpu)->operations.fp32_vector, 32);
  EXPECT_EQ(find_x86(cpu)->operations.int8_vector, 128);
  cpu.efficiency_core = true;
  EXPECT_EQ(find_x86(cpu)->name, "Gracemont");
  EXPECT_EQ(find_x86(cpu)->operations.fp32_vector, 16);
  EXPECT_FALSE(find_x86(cpu)->operations.int8_vector.has_value());
}

TEST(Microarchitecture, Amd) {
  const auto amd = [](int family, int model, bool avx512) {
    return find_x86({"AuthenticAMD", family, model, 0, "", avx512, false}).value();
  };
  EXPECT_EQ(amd(0x17, 0x01, false).operations.fp32_vector, 16);
  EXPECT_EQ(amd(0x17, 0x31, false).operations.fp32_vector, 32);
  EXPECT_EQ(amd(0x17, 0x31, false).name, "Zen 2");
  EXPECT_EQ(amd(0x19, 0x01, false).name, "Zen 3");
  EXPECT_FALSE(amd(0x19, 0x01, false).operations.int8_vector.has_value());
  EXPECT_EQ(amd(0x19, 0x11, true).name, "Zen 4");
  EXPECT_EQ(amd(0x19, 0x11, true).operations.fp32_vector, 32);
  EXPECT_EQ(amd(0x19, 0x11, true).operations.int8_vector, 128);
  EXPECT_EQ(amd(0x1a, 0x02, true).operations.fp32_vector, 64);
  EXPECT_FALSE(amd(0x1a, 0x24, true).operations.fp32_vector.has_value());
}

TEST(Microarchitecture, UnknownIsNothing) {
  EXPECT_FALSE(find_x86(intel(9999, 0, "")).has_value());
  EXPECT_FALSE(find_x86({"CentaurHauls", 6, 15, 0, "", false, false}).has_value());
  EXPECT_FALSE(find_arm(0x41, 0xfff).has_value());
}

TEST(Microarchitecture, ArmNames) {
  EXPECT_EQ(arm_core_name(0x41, 0xd0c), "Neoverse-N1");
  EXPECT_EQ(arm_core_name(0x41, 0xd40), "Neoverse-V1");
  EXPECT_EQ(arm_core_name(0x41, 0xd4f), "Neoverse-V2");
  EXPECT_EQ(arm_core_name(0x61, 0x023), "Firestorm-M1");
  EXPECT_EQ(arm_core_name(0x41, 0xfff), "ARM part 0xfff");
  EXPECT_EQ(arm_core_name(0x99, 0x12), "CPU 0x99:0x012");
  EXPECT_EQ(find_arm(0x41, 0xd40)->operations.fp32_vector, 32);
  EXPECT_EQ(find_arm(0x41, 0xd0c)->operations.int8_vector, 64);
  EXPECT_FALSE(find_arm(0x48, 0xd01)->operations.fp32_vector.has_value());
}

}  // namespace
}  // namespace deepgap::hw
