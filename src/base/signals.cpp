#include "base/signals.h"

#include <signal.h>

#include <cerrno>

namespace deepgap {
namespace {

std::atomic<StopRequest*> current_request = nullptr;
std::atomic<void (*)()> current_leave = nullptr;
std::atomic<int> stages = 0;  // UninterruptibleStages that live

void restore_defaults() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// Only what is async-signal-safe: atomics, sigaction and raise.
void on_stop_signal(int signal) {
  const int saved_errno = errno;
  if (StopRequest* request = current_request.load()) {
    request->request();
    if (request->level() == StopLevel::kStopNow) {
      restore_defaults();
      if (stages.load() > 0) {
        if (void (*const leave)() = current_leave.load()) leave();
        raise(signal);  // takes effect when the handler returns
      }
    }
  }
  errno = saved_errno;
}

}  // namespace

void install_stop_handler(StopRequest& request, void (*leave)()) {
  current_request.store(&request);
  current_leave.store(leave);
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void remove_stop_handler() {
  restore_defaults();
  current_request.store(nullptr);
  current_leave.store(nullptr);
}

UninterruptibleStage::UninterruptibleStage() noexcept {
  stages.fetch_add(1);
}

UninterruptibleStage::~UninterruptibleStage() {
  stages.fetch_sub(1);
}

}  // namespace deepgap
