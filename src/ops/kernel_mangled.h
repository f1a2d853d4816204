// Mangled names of kernels, as the Itanium C++ ABI has them, which profilers show where they do not demangle.
//
//   spell_out("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_")
//     -> "at::native::reduce_kernel<512, 1, ReduceOp<float, MeanOps<float, float, float, float>, unsigned
//     int,
//        float, 4, 4>>"
#pragma once

#include <string>
#include <string_view>

namespace deepgap::ops {

// Whether `name` is mangled as the Itanium C++ ABI has it.
bool is_mangled(std::string_view name);
// What a mangled name says, near enough to the demangled text that the same patterns fit both: identifiers,
// template arguments, literals, types of lambdas' parameters. Substitutions are left out and not resolved:
// resolving them can grow a short name exponentially. Linear in time and memory, without recursion.
std::string spell_out(std::string_view mangled);

}  // namespace deepgap::ops
