#include "stats/memo.h"

#include <gtest/gtest.h>

namespace deepgap::stats {
namespace {

TEST(Memo, GivesWhatTheFunctionGivesForEveryArgument) {
  Memo<double, 2, 4> memo;  // few places: arguments push each other out all the time
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) {
      const double a = i;
      EXPECT_EQ(memo.at({a, 0.5}, [&] { return 10 * a; }), 10 * a);
      EXPECT_EQ(memo.at({a, 0.25}, [&] { return 20 * a; }), 20 * a);
    }
  }
}

TEST(Memo, AsksTheFunctionOnce) {
  Memo<int, 1> memo;
  int calls = 0;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(memo.at({1.0}, [&] { return ++calls; }), 1);
  EXPECT_EQ(memo.at({2.0}, [&] { return ++calls; }), 2);
  EXPECT_EQ(memo.at({1.0}, [&] { return ++calls; }), 1);
}

}  // namespace
}  // namespace deepgap::stats
