#include "base/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace deepgap {
namespace {

TEST(StopRequest, RisesWithEachRequest) {
  StopRequest stop;
  EXPECT_EQ(stop.level(), StopLevel::kNone);
  stop.request();
  EXPECT_EQ(stop.level(), StopLevel::kFinishCell);
  stop.request();
  EXPECT_EQ(stop.level(), StopLevel::kStopNow);
  stop.request();
  EXPECT_EQ(stop.level(), StopLevel::kStopNow);
  EXPECT_EQ(stop.count(), 3);
}

TEST(StopHandler, CountsInterruptAndTerminate) {
  StopRequest stop;
  install_stop_handler(stop);
  raise(SIGINT);
  EXPECT_EQ(stop.level(), StopLevel::kFinishCell);
  raise(SIGTERM);
  EXPECT_EQ(stop.level(), StopLevel::kStopNow);
  remove_stop_handler();
}

TEST(StopHandler, ALaterRequestTakesThePlaceOfAnEarlier) {
  StopRequest first;
  StopRequest second;
  install_stop_handler(first);
  install_stop_handler(second);
  raise(SIGINT);
  EXPECT_EQ(first.level(), StopLevel::kNone);
  EXPECT_EQ(second.level(), StopLevel::kFinishCell);
  remove_stop_handler();
}

TEST(StopHandlerDeathTest, TheThirdSignalEndsTheProgram) {
  const auto press_three_times = [] {
    StopRequest stop;
    install_stop_handler(stop);
    raise(SIGINT);
    raise(SIGINT);
    raise(SIGINT);
  };
  EXPECT_EXIT(press_three_times(), testing::KilledBySignal(SIGINT), "");
}

TEST(StopHandlerDeathTest, RemovedItLeavesTheDefault) {
  const auto remove_and_raise = [] {
    StopRequest stop;
    install_stop_handler(stop);
    remove_stop_handler();
    raise(SIGTERM);
  };
  EXPECT_EXIT(remove_and_raise(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace deepgap
