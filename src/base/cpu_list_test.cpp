#include "base/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuList, ReadsRangesAndSingleCpus) {
  EXPECT_THAT(parse_cpu_list("0-3,8,10-11\n").value(), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_cpu_list("0").value(), ElementsAre(0));
  EXPECT_THAT(parse_cpu_list("").value(), IsEmpty());
  EXPECT_THAT(parse_cpu_list("\n").value(), IsEmpty());
  EXPECT_THAT(parse_cpu_list("4-5,1,4").value(), ElementsAre(1, 4, 5));  // sorted, each once
  EXPECT_EQ(parse_cpu_list("0-1343").value().size(), 1344U);             // more than a cpu_set_t holds
}

TEST(CpuList, RefusesWhatIsNoList) {
  for (const char* text : {"a", "3-1", "-1", "0-", "-", ",", "0,", "0,,1", "0 1", "0-99999999999",
                           "0-4294967295", "1.5", "0x3", "99999999999999999999", "0-65536"}) {
    EXPECT_FALSE(parse_cpu_list(text).has_value()) << text;
  }
  std::string repeated = "0-65535";
  for (int i = 0; i < 1000; ++i) repeated += ",0-65535";
  EXPECT_FALSE(parse_cpu_list(repeated).has_value());
}

TEST(CpuList, WritesWhatItReads) {
  for (const char* text : {"", "0", "0-3,8,10-11", "1,3,5", "0-127"}) {
    EXPECT_EQ(format_cpu_list(parse_cpu_list(text).value()), text);
  }
}

TEST(CpuList, CommonCpus) {
  EXPECT_THAT(common_cpus(std::vector{0, 2, 4}, std::vector{2, 3, 4}), ElementsAre(2, 4));
  EXPECT_THAT(common_cpus(std::vector{0}, std::vector<int>{}), IsEmpty());
}

}  // namespace
}  // namespace deepgap
