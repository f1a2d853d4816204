// The worker protocol as values: what each verb asks and answers, and its way to and from a Message.
//
//   core                                            worker
//   writer.write(encode(7, MeasureVerb{options}))   DEEPGAP_ASSIGN(auto request, decode_request(message))
//   decode_measure_reply(message)                   writer.write(encode_reply(request.id, reply))
//
// docs/worker-protocol.md describes it; neither end makes JSON of its own. Members that a reader does not
// know are ignored; a member that is missing or of another type is an error that names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "run/engine.h"
#include "run/message_stream.h"
#include "run/worker_loop.h"

namespace deepgap::run {

inline constexpr int kProtocolVersion = 1;

// Whether a process that answered with this kind may serve the next cell.
bool process_stays_usable(std::string_view failure_kind);

// ---- Requests: core to worker, one type a verb ----

struct HelloVerb {
  int protocol = kProtocolVersion;
  std::string deepgap_version;
};
// LoadRequest: engine.h
struct MeasureVerb {
  MeasureOptions options;
};
struct CancelVerb {};
struct RunVerb {};
struct OutputsVerb {
  std::vector<Tensor> inputs;  // empty: input buffer 0
};
struct ProfileVerb {
  int calls = 10;
};
struct ProbeVerb {
  std::string device;
  std::string quantity;
};
struct MemoryVerb {};
struct EnqueueVerb {
  int slot = 0;
};
struct PollVerb {};
struct ExitVerb {};

using Request = std::variant<HelloVerb, LoadRequest, MeasureVerb, CancelVerb, RunVerb, OutputsVerb,
                             ProfileVerb, ProbeVerb, MemoryVerb, EnqueueVerb, PollVerb, ExitVerb>;

// "hello", "load", "measure", "cancel", "run", "outputs", "profile", "probe", "memory", "enqueue", "poll",
// "exit"
std::string_view verb_of(const Request& request);

Message encode(std::int64_t id, const Request& request);

// A request that a worker has read. With an id but no request, `failure` is what to answer.
struct ReceivedRequest {
  std::int64_t id = 0;
  std::string verb;
  std::optional<Request> request;
  EngineFailure failure;
};
// An error: there is no usable id, so nothing can be answered.
Result<ReceivedRequest> decode_request(Message message);

// ---- Replies and events: worker to core ----

// What `load` answers besides the engine's own reply.
struct LoadedReply {
  Nanoseconds load_time{};
  LoadReply load;
};
struct HelloReply {
  int protocol = kProtocolVersion;
  EngineDescription engine;
  std::vector<std::string> verbs;
  bool scheduled_start = false;

  bool has_verb(std::string_view verb) const;
  std::optional<PrecisionMaker> maker_of(Precision precision) const;  // nothing: the engine does not have it
};
struct RunReply {
  Nanoseconds host{};
  CallTimes times;
};
struct OutputsReply {
  std::vector<Tensor> outputs;
};
struct ProfileReply {
  std::vector<OpTime> ops;
  std::string trace_path;  // or "": one of the two is given
};
struct ProbeReply {
  Ceiling ceiling;
};
struct MemoryReply {
  MemoryUse memory;
};
struct PollReply {
  std::vector<Completion> ended;
};
struct EmptyReply {};  // of cancel, enqueue, exit

Message encode_reply(std::int64_t id, const HelloReply& reply);
Message encode_reply(std::int64_t id, const LoadedReply& reply);
Message encode_reply(std::int64_t id, const MeasureReply& reply);  // copies the samples into blobs
Message encode_reply(std::int64_t id, const RunReply& reply);
Message encode_reply(std::int64_t id, const OutputsReply& reply);
Message encode_reply(std::int64_t id, const ProfileReply& reply);
Message encode_reply(std::int64_t id, const ProbeReply& reply);
Message encode_reply(std::int64_t id, const MemoryReply& reply);
Message encode_reply(std::int64_t id, const PollReply& reply);
Message encode_reply(std::int64_t id, const EmptyReply& reply);
Message encode_failure(std::int64_t id, const EngineFailure& failure);
Message encode_progress(std::int64_t id, const MeasureProgress& progress);

// What the core has read, told apart before it is decoded as the reply to the verb that was asked.
struct Incoming {
  enum class Kind { kReply, kFailure, kEvent } kind = Kind::kReply;
  std::int64_t id = 0;
  EngineFailure failure;     // kFailure
  std::string event;         // kEvent: "progress", or a name that is to be ignored
  MeasureProgress progress;  // kEvent "progress"
};
Result<Incoming> classify(const Message& message);

Result<HelloReply> decode_hello_reply(const Message& message);
Result<LoadedReply> decode_load_reply(const Message& message);
Result<MeasureReply> decode_measure_reply(const Message& message);
Result<RunReply> decode_run_reply(const Message& message);
Result<OutputsReply> decode_outputs_reply(Message message);
Result<ProfileReply> decode_profile_reply(const Message& message);
Result<ProbeReply> decode_probe_reply(const Message& message);
Result<MemoryReply> decode_memory_reply(const Message& message);
Result<PollReply> decode_poll_reply(const Message& message);

// Times that no call takes, and no clock shows: some 146 years.
inline constexpr Nanoseconds kAbsurdTime{std::int64_t{1} << 62};

// What no measuring that was asked for like this gives, though the reply decodes (which finds times that none
// takes): calls inside each other where one is made at a time, completed calls that are no samples, a window
// shorter than what it holds. "expected each completed call to be a sample, found 10 samples of 10000
// completed calls". A cancelled measuring may have no samples.
Result<void> check_measuring(const MeasureOptions& asked, const MeasureReply& reply);

}  // namespace deepgap::run
