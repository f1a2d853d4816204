// How Ctrl-C reaches a sweep: the first asks to finish the running cell, the second to stop at once.
//
//   StopRequest stop;                    // in main; passed by reference to whatever takes long
//   install_stop_handler(stop);
//   for (const Cell& cell : plan) {
//     if (stop.level() != StopLevel::kNone) break;
//     measure(cell, stop);               // looks for StopLevel::kStopNow between iterations
//   }
#pragma once

#include <atomic>

namespace deepgap {

enum class StopLevel {
  kNone,
  kFinishCell,  // finish what is being measured, begin nothing new
  kStopNow,     // leave the running cell too
};

// Counts requests; safe to call from any thread and from a signal handler.
class StopRequest {
 public:
  void request() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  int count() const noexcept { return count_.load(std::memory_order_relaxed); }
  StopLevel level() const noexcept {
    const int requests = count();
    if (requests <= 0) return StopLevel::kNone;
    return requests == 1 ? StopLevel::kFinishCell : StopLevel::kStopNow;
  }

 private:
  std::atomic<int> count_ = 0;
  static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not take a lock");
};

// SIGINT and SIGTERM count as a request from now on; poll() and sleeps return EINTR, other calls are
// restarted. After the second, both have their default action again, so that a third ends a program that no
// longer listens. `request` must live until remove_stop_handler(). One at a time: a later one takes the place
// of an earlier. `leave` is called by the second request in an UninterruptibleStage, in the signal handler:
// it ends the process with what is safe there (write, _exit); absent, the signal's default action ends it.
void install_stop_handler(StopRequest& request, void (*leave)() = nullptr);
// The default action of both signals again.
void remove_stop_handler();

// While one lives, nobody looks at the request: a library is at work that cannot be interrupted, and nothing
// is half written. The second request ends the process at once.
class UninterruptibleStage {
 public:
  UninterruptibleStage() noexcept;
  UninterruptibleStage(const UninterruptibleStage&) = delete;
  UninterruptibleStage& operator=(const UninterruptibleStage&) = delete;
  ~UninterruptibleStage();
};

// What `work` returns, in such a stage.
template <typename Work>
auto uninterruptible(Work work) {
  const UninterruptibleStage stage;
  return work();
}

}  // namespace deepgap
