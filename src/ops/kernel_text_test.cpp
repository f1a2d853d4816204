#include "ops/kernel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "ops/kernel_mangled.h"
#include "ops/kernel_types.h"

namespace deepgap::ops {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TakeApart, FindsNameAndArguments) {
  const struct {
    std::string_view readable, text, qualified, name, arguments;
  } cases[] = {
      {"f", "f", "f", "f", ""},
      {"f(int)", "f", "f", "f", ""},
      {"void f(int)", "void f", "f", "f", ""},
      {"void a::b::f<1, g<2>, (bool)0>(int)", "void a::b::f<1, g<2>, (bool)0>", "a::b::f", "f",
       "1, g<2>, (bool)0"},
      {"std::enable_if<!(false), void>::type a::kernel<int> (int)",
       "std::enable_if<!(false), void>::type a::kernel<int>", "a::kernel", "kernel", "int"},
      {"void a::(anonymous namespace)::f<float>(float)", "void a::(anonymous namespace)::f<float>", "a::::f",
       "f", "float"},
      {"<unnamed>::f(<unnamed>::T<int>)", "<unnamed>::f", "::f", "f", ""},
      {"void a<int>::f(int)", "void a<int>::f", "a::f", "f", ""},
      {"f<{lambda(int)#1}::operator()() const>(int)", "f<{lambda(int)#1}::operator()() const>", "f", "f",
       "{lambda(int)#1}::operator()() const"},
      {"f.kd", "f.kd", "f.kd", "f", ""},
      {"f [clone .kd]", "f", "f", "f", ""},
      {"void f<1, g<2", "void f<1, g<2", "f", "f", "1, g<2"},
      {"[CUDA memset]", "[CUDA memset]", "memset]", "memset]", ""},
      {"", "", "", "", ""},
  };
  for (const auto& [readable, text, qualified, name, arguments] : cases) {
    const KernelText parts = take_apart(readable);
    EXPECT_EQ(parts.text, text) << readable;
    EXPECT_EQ(parts.qualified, qualified) << readable;
    EXPECT_EQ(parts.name, name) << readable;
    EXPECT_EQ(parts.arguments, arguments) << readable;
  }
}

TEST(SplitArguments, KeepsWhatIsInBracketsTogether) {
  EXPECT_THAT(split_arguments("float, f<a, b>, (x, y)3, {lambda(a, b)#1}"),
              ElementsAre("float", "f<a, b>", "(x, y)3", "{lambda(a, b)#1}"));
  EXPECT_THAT(split_arguments(" "), IsEmpty());
}

// Against c++filt, but for what is left out by design: parameters, substitutions, the numbers of lambdas.
TEST(SpellOut, ReadsMangledNames) {
  const std::string_view cases[][2] = {
      {"_Z1fi", "f"},
      {"_Z1fIfLi3ELb0ELin7EEvT_", "f<float, 3, 0, -7>"},
      {"_ZN1a1b1fIdEEvT_", "a::b::f<double>"},
      {"_ZN12_GLOBAL__N_11fIfEEvT_", "(anonymous namespace)::f<float>"},
      {"_ZN1a1fIN3c104HalfENS1_8BFloat16EEEvT_", "a::f<c10::Half, BFloat16>"},
      {"_Z1fISt5arrayIPcLm2EEEvT_", "f<std::array<char, 2>>"},
      {"_Z1fIL4kind2ELN1n4kindE1EEvv", "f<kind2, n::kind1>"},
      {"_Z1fIZN1n1gIfEEvRiEUlfE_EvT_", "f<n::g<float>(int)::{lambda(float)}>"},
      {"_Z1fIZZZN1n1gERiENKUlvE1_clEvENKUlvE5_clEvEUlfE_EvT_",
       "f<n::g(int)::{lambda()}::operator()::{lambda()}::operator()::{lambda(float)}>"},
      {"_Z1fIDF16_DhEvv", "f<_Float16, half>"},
      {"_Z1fIJifEEvv", "f<int, float>"},
      {"_Z1fIu6__bf16Evv", "f<__bf16>"},
      {"_ZN1aC1Ev", "a::operator"},
  };
  for (const auto& [mangled, spelled] : cases) {
    EXPECT_TRUE(is_mangled(mangled)) << mangled;
    EXPECT_EQ(spell_out(mangled), spelled) << mangled;
  }
  EXPECT_FALSE(is_mangled("_Zebra"));
  EXPECT_FALSE(is_mangled("f"));
}

TEST(ElementTypes, AreReadFromWordsAndRuns) {
  EXPECT_EQ(parse_type_word("bf16")->precision, Precision::kBf16);
  EXPECT_EQ(parse_type_word("S8")->precision, Precision::kInt8);
  ASSERT_TRUE(parse_type_word("i32"));
  EXPECT_EQ(parse_type_word("i32")->precision, std::nullopt);
  EXPECT_FALSE(parse_type_word("f17"));
  EXPECT_FALSE(parse_type_word(""));
  EXPECT_EQ(parse_type_run("tf32f32").size(), 2U);
  EXPECT_EQ(parse_type_run("F32BF16BF16F32").size(), 4U);
  EXPECT_EQ(parse_type_run("F32BF16BF16F32")[1].precision, Precision::kBf16);
  EXPECT_EQ(parse_type_run("e4m3e5m2")[1].precision, Precision::kFp8E5M2);
  EXPECT_THAT(parse_type_run("f32nhwc"), IsEmpty());
  EXPECT_THAT(parse_type_run(""), IsEmpty());
}

TEST(ElementTypes, AreReadFromCode) {
  EXPECT_EQ(first_type("int, c10::Half, float"), Precision::kFp16);
  EXPECT_EQ(first_type("f(double)::g, float2, signed char"), Precision::kInt8);
  EXPECT_EQ(first_type("long, floating"), std::nullopt);
  EXPECT_EQ(lambda_type("f(double)::{lambda()#2}::{lambda(int)#1}::{lambda(c10::BFloat16)#1}, float"),
            Precision::kBf16);
  EXPECT_EQ(lambda_type("[lambda(float) (instance 1)]"), Precision::kFp32);
  EXPECT_EQ(lambda_type("{lambda("), std::nullopt);
  EXPECT_EQ(lambda_type("float"), std::nullopt);
}

}  // namespace
}  // namespace deepgap::ops
