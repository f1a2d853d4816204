#include "connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/text.h"

namespace deepgap::conformance {

namespace {

// What a reply may not be, whatever was asked.
Result<void> check_kind(const run::Incoming& head) {
  using namespace run::failures;
  constexpr std::array kKinds{kBadRequest, kUnsupported, kBadModel, kOutOfMemory, kDeviceLost, kInternal};
  if (head.kind != run::Incoming::Kind::kFailure ||
      std::find(kKinds.begin(), kKinds.end(), head.failure.kind) != kKinds.end())
    return {};
  return bad_input("expected a failure of one of the kinds that docs/worker-protocol.md lists, found '" +
                   printable(head.failure.kind, 40) + "'");
}

}  // namespace

Connection::Connection(Subprocess process, const Options& options)
    : process_(std::move(process)),
      reader_(process_.read_descriptor()),
      writer_(process_.write_descriptor()),
      patience_(options.patience) {}

Result<Connection> Connection::start(const Options& options) {
  DEEPGAP_ASSIGN(Subprocess process,
                 Subprocess::start({.command = {options.worker}, .log_path = options.log_path}));
  return Connection(std::move(process), options);
}

Error Connection::ended() {
  const auto status = process_.wait(std::chrono::seconds(2));
  return bad_input("expected a reply, found the worker's pipe closed (" +
                   (status ? status->describe() : std::string("the process still runs")) + ")");
}

Result<std::int64_t> Connection::send(const run::Request& request) {
  const std::int64_t id = next_id_++;
  const auto sent = writer_.write(run::encode(id, request), patience_);
  if (!sent.ok()) return ended();
  open_.insert(id);
  return id;
}

Result<void> Connection::send_line(const std::string& line) {
  const auto sent = writer_.write({line, {}}, patience_);
  if (!sent.ok()) return ended();
  open_.insert(next_id_++);
  return {};
}

Result<Answer> Connection::receive() {
  Answer answer;
  SystemClock clock;
  Nanoseconds heard_at = clock.monotonic();
  for (;;) {
    DEEPGAP_ASSIGN(run::ReadOutcome outcome, reader_.read(patience_ - (clock.monotonic() - heard_at)));
    if (outcome.status == run::ReadStatus::kEnded) return ended();
    if (outcome.status == run::ReadStatus::kTimedOut) {
      if (clock.monotonic() - heard_at < patience_) continue;  // a signal
      return bad_input("expected a reply or progress, found silence for " + format_duration(patience_));
    }
    heard_at = clock.monotonic();
    DEEPGAP_ASSIGN(answer.head, run::classify(outcome.message));
    if (answer.head.kind == run::Incoming::Kind::kEvent) {
      if (answer.head.event != "progress") continue;
      if (!open_.contains(answer.head.id))
        return bad_input(fmt::format("expected progress of a request that has no reply yet, found it of {}",
                                     answer.head.id));
      answer.progress.push_back(answer.head.progress);
      continue;
    }
    DEEPGAP_RETURN_IF_ERROR(check_kind(answer.head));
    open_.erase(answer.head.id);
    answer.message = std::move(outcome.message);
    return answer;
  }
}

Result<void> Connection::receive_end() {
  DEEPGAP_ASSIGN(const run::ReadOutcome outcome, reader_.read(patience_));
  if (outcome.status == run::ReadStatus::kEnded) return {};
  if (outcome.status == run::ReadStatus::kMessage)
    return bad_input("expected the end of the connection, found the message " +
                     printable(outcome.message.header, 100));
  return bad_input("expected the end of the connection, found silence for " + format_duration(patience_));
}

Result<Answer> Connection::ask(const run::Request& request) {
  DEEPGAP_ASSIGN(const std::int64_t id, send(request));
  DEEPGAP_ASSIGN(Answer answer, receive());
  if (answer.head.id != id)
    return bad_input(fmt::format("expected the reply to request {}, found one to {}", id, answer.head.id));
  return answer;
}

Result<ExitStatus> Connection::wait_for_exit(Nanoseconds patience) {
  const auto status = process_.wait(patience);
  if (!status)
    return bad_input("expected the worker to end within " + format_duration(patience) + ", found it running");
  return *status;
}

}  // namespace deepgap::conformance
