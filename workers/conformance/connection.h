// One worker process under test, with requests and replies in typed form and each wait bounded.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "base/subprocess.h"
#include "run/protocol.h"

namespace deepgap::conformance {

struct Options {
  std::string worker;  // path of the program
  std::string model_path;
  std::string model_format = "onnx";
  std::vector<run::TensorSpec> inputs;              // at batch 1; the first extent is the batch
  std::map<std::string, std::string> settings;      // of each load
  std::optional<Precision> precision;               // absent: the first that the worker names
  std::string device;                               // "": likewise
  Nanoseconds patience = std::chrono::seconds(30);  // for any one reply
  bool own_model = false;                           // the tiny one, whose outputs depend on every input
  std::vector<std::string> groups;                  // of rules, as Checker::run() names them; none: all
  std::string log_path;                             // stdout and stderr of the workers
};

// What came for one request.
struct Answer {
  run::Message message;
  run::Incoming head;
  std::vector<run::MeasureProgress> progress;  // events before it

  bool failed() const { return head.kind == run::Incoming::Kind::kFailure; }
};

class Connection {
 public:
  static Result<Connection> start(const Options& options);

  // Sends a request under the next id.
  Result<std::int64_t> send(const run::Request& request);
  // Sends a line as it stands.
  Result<void> send_line(const std::string& line);
  // The next reply or failure, with the events before it. An error is a breach: of the form, a kind of
  // failure that there is not, progress of no open request, a silence, an end.
  Result<Answer> receive();
  // That the worker closes its end of the pipe without another message.
  Result<void> receive_end();
  // Both, and the id must be the request's.
  Result<Answer> ask(const run::Request& request);
  std::int64_t next_id() const { return next_id_; }

  void close_requests() { process_.close_write(); }
  // Error: it still runs after `patience`.
  Result<ExitStatus> wait_for_exit(Nanoseconds patience);

 private:
  Connection(Subprocess process, const Options& options);
  Error ended();

  Subprocess process_;
  run::MessageReader reader_;
  run::MessageWriter writer_;
  Nanoseconds patience_;
  std::int64_t next_id_ = 1;
  std::set<std::int64_t> open_;  // requests without a reply
};

}  // namespace deepgap::conformance
