#include "base/signals.h"

#include <signal.h>

#include <cerrno>

namespace deepgap {
namespace {

std::atomic<StopRequest*> current_request = nullptr;

void restore_defaults() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// Only what is async-signal-safe: atomics and sigaction.
void on_stop_signal(int) {
  const int saved_errno = errno;
  if (StopRequest* request = current_request.load()) {
    request->request();
    if (request->level() == StopLevel::kStopNow) restore_defaults();
  }
  errno = saved_errno;
}

}  // namespace

void install_stop_handler(StopRequest& request) {
  current_request.store(&request);
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
}

}  // namespace deepgap
