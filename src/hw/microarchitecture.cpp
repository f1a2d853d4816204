#include "hw/microarchitecture.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace deepgap::hw {
namespace {

// Documents, by their makers' numbers.
constexpr std::string_view kIntelManual = "Intel 248966: Optimization Reference Manual";
constexpr std::string_view kIntelArk =
    "Intel 248966: Optimization Reference Manual; number of 512-bit units per part: Intel ARK";
constexpr std::string_view kZen1 = "AMD 55723: Software Optimization Guide, family 17h";
constexpr std::string_view kZen2 =
    "AMD 56305: Software Optimization Guide, family 17h models 30h and greater";
constexpr std::string_view kZen3 = "AMD 56665: Software Optimization Guide, family 19h";
constexpr std::string_view kZen4 = "AMD 57647: Software Optimization Guide, Zen 4";
constexpr std::string_view kZen5 = "AMD 58455: Software Optimization Guide, Zen 5";
constexpr std::string_view kNeoverseN1 = "Arm PJDOC-466751330-9707: Neoverse N1 Software Optimization Guide";
constexpr std::string_view kNeoverseV1 = "Arm PJDOC-466751330-9685: Neoverse V1 Software Optimization Guide";
constexpr std::string_view kNeoverseN2 = "Arm PJDOC-466751330-18256: Neoverse N2 Software Optimization Guide";
constexpr std::string_view kNeoverseV2 =
    "Arm PJDOC-466751330-593177: Neoverse V2 Software Optimization Guide";

// Vector units that multiply and add, each every cycle: lanes x 2 operations x units. VNNI and dot product
// take four 8-bit pairs a 32-bit lane.
constexpr OperationsPerCycle vector_units(int units, int bits, bool int8_dot) {
  OperationsPerCycle operations;
  operations.fp64_vector = units * bits / 64 * 2;
  operations.fp32_vector = units * bits / 32 * 2;
  if (int8_dot) operations.int8_vector = units * bits / 8 * 2;
  return operations;
}

// AMX: TDPBSSD does 16 x 16 x 64 and TDPBF16PS 16 x 16 x 32 multiply-adds, each in 16 cycles.
constexpr OperationsPerCycle with_amx(OperationsPerCycle operations) {
  operations.int8_matrix = 16 * 16 * 64 * 2 / 16;
  operations.bf16_matrix = 16 * 16 * 32 * 2 / 16;
  return operations;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// 512-bit units of the parts of family 6, model 85; nothing where the name does not say which part it is.
std::optional<int> units_of_model_85(std::string_view name) {
  if (contains(name, "Platinum") || contains(name, "Core(TM) i9")) return 2;
  if (contains(name, "Silver") || contains(name, "Bronze")) return 1;
  if (!contains(name, "Gold")) return std::nullopt;
  if (contains(name, "Gold 61") || contains(name, "Gold 62") || contains(name, "Gold 63")) return 2;
  if (contains(name, "Gold 5122") || contains(name, "Gold 5222")) return 2;
  if (contains(name, "Gold 51") || contains(name, "Gold 52")) return 1;
  return std::nullopt;
}

std::optional<Microarchitecture> find_intel(const X86Model& cpu) {
  if (cpu.family != 6) return std::nullopt;
  const OperationsPerCycle two_256 = vector_units(2, 256, false);
  switch (cpu.model) {
    case 60:
    case 63:
    case 69:
    case 70:
      return Microarchitecture{"Haswell", two_256, kIntelManual};
    case 61:
    case 71:
    case 79:
    case 86:
      return Microarchitecture{"Broadwell", two_256, kIntelManual};
    case 78:
    case 94:
    case 142:
    case 158:
    case 165:
    case 166:
      return Microarchitecture{"Skylake", two_256, kIntelManual};
    case 85: {
      const bool vnni = cpu.stepping >= 5;
      const std::string_view name = cpu.stepping >= 10 ? "Cooper Lake" : vnni ? "Cascade Lake" : "Skylake-SP";
      if (!cpu.avx512) return Microarchitecture{name, two_256, kIntelManual};
      const auto units = units_of_model_85(cpu.name);
      if (!units) return Microarchitecture{name, {}, kIntelArk};
      return Microarchitecture{name, vector_units(*units, 512, vnni), kIntelArk};
    }
    case 106:
      return Microarchitecture{"Ice Lake-SP", cpu.avx512 ? vector_units(2, 512, true) : two_256,
                               kIntelManual};
    case 108:
      return Microarchitecture{"Ice Lake-D", cpu.avx512 ? OperationsPerCycle{} : two_256, kIntelArk};
    case 143:
      return Microarchitecture{"Sapphire Rapids", with_amx(cpu.avx512 ? vector_units(2, 512, true) : two_256),
                               kIntelManual};
    case 207:
      return Microarchitecture{"Emerald Rapids", with_amx(cpu.avx512 ? vector_units(2, 512, true) : two_256),
                               kIntelManual};
    case 173:
    case 174:
      return Microarchitecture{"Granite Rapids", with_amx(cpu.avx512 ? vector_units(2, 512, true) : two_256),
                               kIntelManual};
    // One 512-bit unit, which is the two 256-bit ones together.
    case 125:
    case 126:
      return Microarchitecture{"Ice Lake", cpu.avx512 ? vector_units(1, 512, true) : two_256, kIntelManual};
    case 140:
    case 141:
      return Microarchitecture{"Tiger Lake", cpu.avx512 ? vector_units(1, 512, true) : two_256, kIntelManual};
    case 167:
      return Microarchitecture{"Rocket Lake", cpu.avx512 ? vector_units(1, 512, true) : two_256,
                               kIntelManual};
    case 151:
    case 154:
    case 183:
    case 186:
    case 191:
      // AVX-VNNI of the efficiency cores: no documented rate.
      return cpu.efficiency_core ? Microarchitecture{"Gracemont", vector_units(2, 128, false), kIntelManual}
             : cpu.model < 183   ? Microarchitecture{"Alder Lake", vector_units(2, 256, true), kIntelManual}
                                 : Microarchitecture{"Raptor Lake", vector_units(2, 256, true), kIntelManual};
    case 190:
      return Microarchitecture{"Gracemont", vector_units(2, 128, false), kIntelManual};
    case 170:
    case 172:
      return cpu.efficiency_core ? Microarchitecture{"Crestmont", {}, kIntelManual}
                                 : Microarchitecture{"Meteor Lake", vector_units(2, 256, true), kIntelManual};
    default:
      return std::nullopt;
  }
}

std::optional<Microarchitecture> find_amd(const X86Model& cpu) {
  const int m = cpu.model;
  if (cpu.family == 0x17) {
    if (m < 0x30)
      return Microarchitecture{m == 0x08 || m == 0x18 ? "Zen+" : "Zen", vector_units(2, 128, false), kZen1};
    return Microarchitecture{"Zen 2", vector_units(2, 256, false), kZen2};
  }
  if (cpu.family == 0x19) {
    const bool zen4 = (m >= 0x10 && m <= 0x1f) || (m >= 0x60 && m <= 0x7f) || (m >= 0xa0 && m <= 0xaf);
    // 512-bit instructions take two passes through 256-bit units.
    if (zen4) return Microarchitecture{"Zen 4", vector_units(2, 256, cpu.avx512), kZen4};
    return Microarchitecture{"Zen 3", vector_units(2, 256, false), kZen3};
  }
  if (cpu.family == 0x1a) {
    // Laptop parts (20h to 3fh) have narrower units, which differ among them.
    if ((m >= 0x20 && m <= 0x3f) || m > 0x4f) return Microarchitecture{"Zen 5", {}, kZen5};
    return Microarchitecture{"Zen 5", cpu.avx512 ? vector_units(2, 512, true) : vector_units(2, 256, false),
                             kZen5};
  }
  return std::nullopt;
}

struct ArmCore {
  int implementer;
  int part;
  std::string_view name;
};

// Part numbers: the cores' technical reference manuals (register MIDR_EL1).
constexpr std::array kArmCores = {
    ArmCore{0x41, 0xd03, "Cortex-A53"},       ArmCore{0x41, 0xd04, "Cortex-A35"},
    ArmCore{0x41, 0xd05, "Cortex-A55"},       ArmCore{0x41, 0xd07, "Cortex-A57"},
    ArmCore{0x41, 0xd08, "Cortex-A72"},       ArmCore{0x41, 0xd09, "Cortex-A73"},
    ArmCore{0x41, 0xd0a, "Cortex-A75"},       ArmCore{0x41, 0xd0b, "Cortex-A76"},
    ArmCore{0x41, 0xd0c, "Neoverse-N1"},      ArmCore{0x41, 0xd0d, "Cortex-A77"},
    ArmCore{0x41, 0xd0e, "Cortex-A76AE"},     ArmCore{0x41, 0xd40, "Neoverse-V1"},
    ArmCore{0x41, 0xd41, "Cortex-A78"},       ArmCore{0x41, 0xd42, "Cortex-A78AE"},
    ArmCore{0x41, 0xd44, "Cortex-X1"},        ArmCore{0x41, 0xd46, "Cortex-A510"},
    ArmCore{0x41, 0xd47, "Cortex-A710"},      ArmCore{0x41, 0xd48, "Cortex-X2"},
    ArmCore{0x41, 0xd49, "Neoverse-N2"},      ArmCore{0x41, 0xd4a, "Neoverse-E1"},
    ArmCore{0x41, 0xd4b, "Cortex-A78C"},      ArmCore{0x41, 0xd4c, "Cortex-X1C"},
    ArmCore{0x41, 0xd4d, "Cortex-A715"},      ArmCore{0x41, 0xd4e, "Cortex-X3"},
    ArmCore{0x41, 0xd4f, "Neoverse-V2"},      ArmCore{0x41, 0xd80, "Cortex-A520"},
    ArmCore{0x41, 0xd81, "Cortex-A720"},      ArmCore{0x41, 0xd82, "Cortex-X4"},
    ArmCore{0x41, 0xd84, "Neoverse-V3"},      ArmCore{0x41, 0xd85, "Cortex-X925"},
    ArmCore{0x41, 0xd87, "Cortex-A725"},      ArmCore{0x41, 0xd8e, "Neoverse-N3"},
    ArmCore{0x43, 0x0af, "ThunderX2"},        ArmCore{0x46, 0x001, "A64FX"},
    ArmCore{0x48, 0xd01, "TaiShan-v110"},     ArmCore{0x48, 0xd02, "TaiShan-v120"},
    ArmCore{0x4e, 0x004, "Carmel"},           ArmCore{0x51, 0x001, "Oryon"},
    ArmCore{0x61, 0x022, "Icestorm-M1"},      ArmCore{0x61, 0x023, "Firestorm-M1"},
    ArmCore{0x61, 0x024, "Icestorm-M1-Pro"},  ArmCore{0x61, 0x025, "Firestorm-M1-Pro"},
    ArmCore{0x61, 0x028, "Icestorm-M1-Max"},  ArmCore{0x61, 0x029, "Firestorm-M1-Max"},
    ArmCore{0x61, 0x032, "Blizzard-M2"},      ArmCore{0x61, 0x033, "Avalanche-M2"},
    ArmCore{0x6d, 0xd49, "Azure-Cobalt-100"}, ArmCore{0xc0, 0xac3, "Ampere-1"},
    ArmCore{0xc0, 0xac4, "Ampere-1a"},
};

const ArmCore* find_arm_core(int implementer, int part) {
  for (const ArmCore& core : kArmCores) {
    if (core.implementer == implementer && core.part == part) return &core;
  }
  return nullptr;
}

}  // namespace

std::optional<Microarchitecture> find_x86(const X86Model& cpu) {
  if (cpu.vendor == "GenuineIntel") return find_intel(cpu);
  if (cpu.vendor == "AuthenticAMD") return find_amd(cpu);
  return std::nullopt;
}

std::optional<Microarchitecture> find_arm(int implementer, int part) {
  const ArmCore* core = find_arm_core(implementer, part);
  if (!core) return std::nullopt;
  if (implementer == 0x41) {
    if (part == 0xd0c) return Microarchitecture{core->name, vector_units(2, 128, true), kNeoverseN1};
    if (part == 0xd40) return Microarchitecture{core->name, vector_units(4, 128, true), kNeoverseV1};
    if (part == 0xd49) return Microarchitecture{core->name, vector_units(2, 128, true), kNeoverseN2};
    if (part == 0xd4f) return Microarchitecture{core->name, vector_units(4, 128, true), kNeoverseV2};
  }
  return Microarchitecture{core->name, {}, ""};
}

std::string arm_core_name(int implementer, int part) {
  if (const ArmCore* core = find_arm_core(implementer, part)) return std::string(core->name);
  if (const auto name = arm_implementer_name(implementer)) return fmt::format("{} part {:#05x}", *name, part);
  return fmt::format("CPU {:#04x}:{:#05x}", implementer, part);
}

std::optional<std::string_view> arm_implementer_name(int implementer) {
  switch (implementer) {
    case 0x41:
      return "ARM";
    case 0x42:
      return "Broadcom";
    case 0x43:
      return "Cavium";
    case 0x46:
      return "Fujitsu";
    case 0x48:
      return "HiSilicon";
    case 0x4e:
      return "NVIDIA";
    case 0x51:
      return "Qualcomm";
    case 0x53:
      return "Samsung";
    case 0x61:
      return "Apple";
    case 0x6d:
      return "Microsoft";
    case 0x70:
      return "Phytium";
    case 0xc0:
      return "Ampere";
    default:
      return std::nullopt;
  }
}

}  // namespace deepgap::hw
