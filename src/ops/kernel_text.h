// A kernel's name taken apart, before anything is understood in it.
//
//   "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...> >(at::native::ReduceOp<...>)"
//     -> text       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...> >"
//        qualified  "at::native::reduce_kernel"
//        name       "reduce_kernel"
//        arguments  "512", "1", "at::native::ReduceOp<float, ...>"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deepgap::ops {

// Of a longer name only this much is read: it is nobody's name.
inline constexpr std::size_t kLongestKernelName = 64UL * 1024;

struct KernelText {
  std::string_view text;       // without the parameters
  std::string qualified;       // without return type and template arguments
  std::string_view name;       // the last part of `qualified`
  std::string_view arguments;  // what stands between the angle brackets of `name`
};

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Views into `readable`, and of `name` into `qualified`'s source. Linear.
KernelText take_apart(std::string_view readable);
// "float, f<a, b>, 3" -> "float", "f<a, b>", "3"
std::vector<std::string_view> split_arguments(std::string_view arguments);

}  // namespace deepgap::ops
