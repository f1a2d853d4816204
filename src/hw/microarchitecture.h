// Operations a cycle of CPU cores, from documents of their makers: the only source of a CPU's theoretical
// ceilings.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace deepgap::hw {

// Operations of one core in one clock cycle; a multiply-add counts as 2. Absent: not known, or no such unit.
struct OperationsPerCycle {
  std::optional<int> fp64_vector;
  std::optional<int> fp32_vector;
  std::optional<int> bf16_matrix;  // AMX
  std::optional<int> int8_vector;  // VNNI, dot product
  std::optional<int> int8_matrix;  // AMX
};

struct Microarchitecture {
  std::string_view name;  // "Ice Lake-SP", "Zen 3", "Neoverse-V1"
  OperationsPerCycle operations;
  std::string_view source;  // document
};

struct X86Model {
  std::string_view vendor;  // "GenuineIntel", "AuthenticAMD"
  int family = 0, model = 0, stepping = 0;
  std::string_view name;  // decides between parts of one model with one or two 512-bit units
  bool avx512 = false;    // as the machine lists it: a hypervisor may hide it, and its wider units with it
  bool efficiency_core = false;  // of a hybrid
};

// Nothing for a model that is not in the table; a known model whose figures differ by part has a name and no
// figures.
std::optional<Microarchitecture> find_x86(const X86Model& cpu);
std::optional<Microarchitecture> find_arm(int implementer, int part);

// "Neoverse-N1" for (0x41, 0xd0c); "ARM part 0xfff" where only the implementer is known, "CPU 0x99:0xfff"
// where neither is.
std::string arm_core_name(int implementer, int part);
// "ARM", "Apple", "Ampere"; nothing for an unknown one.
std::optional<std::string_view> arm_implementer_name(int implementer);

}  // namespace deepgap::hw
