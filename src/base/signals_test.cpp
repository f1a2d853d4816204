#include "base/signals.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

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

TEST(StopHandler, OneRequestDoesNotEndAnUninterruptibleStage) {
  StopRequest stop;
  install_stop_handler(stop);
  EXPECT_EQ(uninterruptible([] {
              raise(SIGINT);
              return 7;
            }),
            7);
  EXPECT_EQ(stop.level(), StopLevel::kFinishCell);
  remove_stop_handler();
}

TEST(StopHandlerDeathTest, TheSecondEndsAnUninterruptibleStage) {
  const auto press_twice = [](void (*leave)()) {
    StopRequest stop;
    install_stop_handler(stop, leave);
    raise(SIGINT);
    const UninterruptibleStage stage;
    raise(SIGTERM);
  };
  EXPECT_EXIT(press_twice(nullptr), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(press_twice([] { _exit(4); }), testing::ExitedWithCode(4), "");
}

TEST(StopHandler, AfterAnUninterruptibleStageTheSecondIsARequestAgain) {
  StopRequest stop;
  install_stop_handler(stop, [] { _exit(4); });
  uninterruptible([] { return 0; });
  raise(SIGINT);
  raise(SIGINT);
  EXPECT_EQ(stop.level(), StopLevel::kStopNow);
  remove_stop_handler();
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
