#include "run/worker_server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <new>

#include "base/clock.h"
#include "base/text.h"
#include "run/protocol.h"

namespace deepgap::run {
namespace {

constexpr Nanoseconds kProgressInterval = std::chrono::milliseconds(500);

EngineFailure failure(std::string_view kind, std::string message) {
  return {std::string(kind), std::move(message), std::nullopt};
}

// Calls into the engine; what it throws becomes its failure.
template <typename Body>
Outcome guarded(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failure(failures::kOutOfMemory, "the engine could not allocate memory");
  } catch (const std::exception& exception) {
    return failure(failures::kInternal, "the engine threw an exception: " + printable(exception.what()));
  } catch (...) {
    return failure(failures::kInternal, "the engine threw an exception of a type that says nothing");
  }
}

class Server {
 public:
  Server(Engine& engine, int request_descriptor, int reply_descriptor)
      : engine_(engine), reader_(request_descriptor), writer_(reply_descriptor) {}

  Result<void> run() {
    while (!exit_) {
      if (waiting_.empty()) {
        DEEPGAP_ASSIGN(ReadOutcome outcome, reader_.read());
        if (outcome.status == ReadStatus::kEnded) return {};
        if (outcome.status == ReadStatus::kTimedOut) continue;
        waiting_.push_back(std::move(outcome.message));
      }
      Message message = std::move(waiting_.front());
      waiting_.pop_front();
      DEEPGAP_ASSIGN(ReceivedRequest received, decode_request(std::move(message)));
      const auto id = received.id;
      Message reply = received.request
                          ? std::visit([&](auto& request) { return answer(id, request); }, *received.request)
                          : encode_failure(id, received.failure);
      DEEPGAP_RETURN_IF_ERROR(writer_.write(reply));
      if (trouble_) return *trouble_;
      if (ended_ && waiting_.empty()) return {};
    }
    return {};
  }

  // Between two calls of a measuring: sends progress, looks for `cancel`. False ends the measuring.
  bool go_on(std::int64_t id, const MeasureProgress& progress) {
    const Nanoseconds now = clock_.monotonic();
    if (now - progress_sent_at_ >= kProgressInterval) {
      progress_sent_at_ = now;
      if (auto written = writer_.write(encode_progress(id, progress)); !written.ok()) {
        trouble_ = written.error();
        return false;
      }
    }
    while (!ended_ && !trouble_) {
      auto read = reader_.read(Nanoseconds{});
      if (!read.ok()) {
        trouble_ = read.error();
      } else if (read->status == ReadStatus::kEnded) {
        ended_ = true;
      } else if (read->status == ReadStatus::kMessage) {
        const auto received = decode_request(read->message);
        if (received.ok() && received->request && std::holds_alternative<CancelVerb>(*received->request))
          cancelled_ = true;
        waiting_.push_back(std::move(read->message));
      } else {
        break;
      }
    }
    return !cancelled_ && !ended_ && !trouble_;
  }

 private:
  class Observer final : public MeasureObserver {
   public:
    Observer(Server& server, std::int64_t id) : server_(server), id_(id) {}
    bool go_on(const MeasureProgress& progress) override { return server_.go_on(id_, progress); }

   private:
    Server& server_;
    std::int64_t id_;
  };

  Message failed(std::int64_t id, const EngineFailure& why) { return encode_failure(id, why); }
  Message refused(std::int64_t id, std::string message) {
    return encode_failure(id, failure(failures::kBadRequest, std::move(message)));
  }

  Nanoseconds now() {
    Clock* clock = engine_.clock();
    return clock != nullptr ? clock->monotonic() : clock_.monotonic();
  }

  Message answer(std::int64_t id, const HelloVerb& verb) {
    if (verb.protocol != kProtocolVersion)
      return failed(
          id, failure(failures::kUnsupported,
                      fmt::format("expected version {} of the worker protocol, found {}: use a deepgap and "
                                  "a worker of the same release",
                                  kProtocolVersion, verb.protocol)));
    HelloReply reply;
    if (Outcome outcome = describe(reply.engine); !outcome.ok()) return failed(id, outcome.failure());
    reply.scheduled_start = true;
    reply.verbs = {"hello", "load", "run", "measure", "cancel", "memory", "exit"};
    if (reply.engine.outputs) reply.verbs.push_back("outputs");
    if (reply.engine.profile) reply.verbs.push_back("profile");
    if (!reply.engine.probes.empty()) reply.verbs.push_back("probe");
    if (reply.engine.polls) reply.verbs.insert(reply.verbs.end(), {"enqueue", "poll"});
    return encode_reply(id, reply);
  }

  Outcome describe(EngineDescription& description) {
    return guarded([&]() -> Outcome {
      description = engine_.describe();
      return {};
    });
  }

  static std::optional<EngineFailure> unknown(std::string_view what, const std::string& word,
                                              const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), word) != known.end()) return std::nullopt;
    return failure(failures::kUnsupported, unknown_name(what, word, known));
  }

  static std::vector<std::string> addresses(const EngineDescription& engine) {
    std::vector<std::string> names;
    for (const auto& device : engine.devices) names.push_back(device.address);
    return names;
  }

  // What the engine says it does not have.
  std::optional<EngineFailure> check(const LoadRequest& request, const EngineDescription& engine) const {
    if (auto refusal = unknown("device", request.device, addresses(engine))) return refusal;
    std::vector<std::string> names;
    for (const auto& precision : engine.precisions) names.emplace_back(name_of(precision.first));
    if (auto refusal = unknown("precision", std::string(name_of(request.precision)), names)) return refusal;
    if (auto refusal = unknown("model format", request.model_format, engine.model_formats)) return refusal;
    for (const auto& [name, value] : request.settings)
      if (auto refusal = unknown("setting", name, engine.settings)) return refusal;
    if (!process_settings_) return std::nullopt;
    for (const auto& name : engine.process_settings) {
      const auto fixed = process_settings_->find(name);
      const auto asked = request.settings.find(name);
      const std::string before =
          fixed == process_settings_->end() ? "its default" : "'" + fixed->second + "'";
      const std::string now = asked == request.settings.end() ? "its default" : "'" + asked->second + "'";
      if (before != now)
        return failure(failures::kBadRequest, "expected '" + name + "' to stay " + before +
                                                  " as this process's first load set it, "
                                                  "found " +
                                                  now + ": load it in a fresh process");
    }
    return std::nullopt;
  }

  Message answer(std::int64_t id, const LoadRequest& request) {
    slots_ = 0;  // what was loaded is gone, whatever comes of this
    EngineDescription description;
    if (Outcome outcome = describe(description); !outcome.ok()) return failed(id, outcome.failure());
    if (const auto refusal = check(request, description)) return failed(id, *refusal);
    if (const auto sentence = call_in_flight()) return refused(id, *sentence);
    if (!process_settings_) process_settings_ = request.settings;
    reset_peak_resident_memory();
    LoadedReply reply;
    const Nanoseconds begun_at = now();
    Outcome outcome = guarded([&] { return engine_.load(request, reply.load); });
    if (!outcome.ok()) return failed(id, outcome.failure());
    reply.load_time = now() - begun_at - reply.load.other_time;
    for (const auto& [name, value] : request.settings) {
      const auto row =
          std::find_if(reply.load.settings.begin(), reply.load.settings.end(),
                       [&wanted = name](const Setting& setting) { return setting.name == wanted; });
      if (row == reply.load.settings.end()) reply.load.settings.push_back({name, value, std::nullopt});
    }
    Message message = encode_reply(id, reply);
    if (message.header.size() >= kLineLimit)
      return failed(id, failure(failures::kBadModel,
                                fmt::format("expected names and shapes of the model's outputs that fit a "
                                            "reply of {} bytes, found one of {}: give them shorter names",
                                            kLineLimit, message.header.size())));
    slots_ = reply.load.slots;
    busy_.assign(static_cast<std::size_t>(slots_), false);
    cold_ = true;
    return message;
  }

  // A sentence if a call that 'enqueue' started has not ended.
  std::optional<std::string> call_in_flight() const {
    if (std::find(busy_.begin(), busy_.end(), true) == busy_.end()) return std::nullopt;
    return "expected no call in flight, found one that 'enqueue' started: 'poll' until it has ended";
  }

  // A sentence if calls cannot be made now.
  std::optional<std::string> not_ready() const {
    if (slots_ == 0) return "expected a model to be loaded, found none: send 'load' before";
    return call_in_flight();
  }

  Message answer(std::int64_t id, const MeasureVerb& verb) {
    if (const auto sentence = not_ready()) return refused(id, *sentence);
    if (verb.options.in_flight > slots_)
      return refused(id, fmt::format("expected at most {} calls in flight as 'load' answered, found {}",
                                     slots_, verb.options.in_flight));
    cancelled_ = false;
    progress_sent_at_ = clock_.monotonic();
    Observer observer(*this, id);
    MeasureReply reply;
    Outcome outcome = guarded([&] { return measure(engine_, verb.options, cold_, observer, reply); });
    cold_ = false;
    if (!outcome.ok()) return failed(id, outcome.failure());
    return encode_reply(id, reply);
  }

  Message answer(std::int64_t id, const CancelVerb&) { return encode_reply(id, EmptyReply{}); }

  Message answer(std::int64_t id, const RunVerb&) {
    if (const auto sentence = not_ready()) return refused(id, *sentence);
    RunReply reply;
    const Nanoseconds begun_at = now();
    Outcome outcome = guarded([&] { return engine_.call(); });
    reply.host = now() - begun_at;
    cold_ = false;
    if (!outcome.ok()) return failed(id, outcome.failure());
    reply.times = engine_.times(0);
    return encode_reply(id, reply);
  }

  // Why a verb that `hello` did not name is refused.
  std::optional<EngineFailure> lacks(bool EngineDescription::*has) {
    EngineDescription description;
    if (Outcome outcome = describe(description); !outcome.ok()) return outcome.failure();
    if (description.*has) return std::nullopt;
    return failure(failures::kUnsupported,
                   "expected one of the verbs that 'hello' named, found one that the engine does not have");
  }

  Message answer(std::int64_t id, const OutputsVerb& verb) {
    if (const auto refusal = lacks(&EngineDescription::outputs)) return failed(id, *refusal);
    if (const auto sentence = not_ready()) return refused(id, *sentence);
    OutputsReply reply;
    Outcome outcome = guarded([&] { return engine_.outputs(verb.inputs, reply.outputs); });
    cold_ = false;
    if (!outcome.ok()) return failed(id, outcome.failure());
    return encode_reply(id, reply);
  }

  Message answer(std::int64_t id, const ProfileVerb& verb) {
    if (const auto refusal = lacks(&EngineDescription::profile)) return failed(id, *refusal);
    if (const auto sentence = not_ready()) return refused(id, *sentence);
    ProfileReply reply;
    Outcome outcome = guarded([&] { return engine_.profile(verb.calls, reply.ops); });
    if (!outcome.ok()) return failed(id, outcome.failure());
    return encode_reply(id, reply);
  }

  Message answer(std::int64_t id, const ProbeVerb& verb) {
    EngineDescription description;
    if (Outcome outcome = describe(description); !outcome.ok()) return failed(id, outcome.failure());
    if (const auto refusal = unknown("device", verb.device, addresses(description)))
      return failed(id, *refusal);
    if (const auto refusal = unknown("quantity to probe", verb.quantity, description.probes))
      return failed(id, *refusal);
    ProbeReply reply;
    Outcome outcome = guarded([&] { return engine_.probe(verb.device, verb.quantity, reply.ceiling); });
    if (!outcome.ok()) return failed(id, outcome.failure());
    return encode_reply(id, reply);
  }

  Message answer(std::int64_t id, const MemoryVerb&) {
    MemoryReply reply;
    Outcome outcome = guarded([&]() -> Outcome {
      reply.memory = engine_.memory();
      return {};
    });
    if (!outcome.ok()) return failed(id, outcome.failure());
    return encode_reply(id, reply);
  }

  Message answer(std::int64_t id, const EnqueueVerb& verb) {
    if (const auto refusal = lacks(&EngineDescription::polls)) return failed(id, *refusal);
    const auto slot = static_cast<std::size_t>(verb.slot);
    if (verb.slot < 0 || slot >= busy_.size())
      return refused(id,
                     fmt::format("expected a slot below {} as 'load' answered, found {}", slots_, verb.slot));
    if (busy_[slot])
      return refused(id, fmt::format("expected slot {} to be free, found a call in flight", slot));
    Outcome outcome = guarded([&] { return engine_.enqueue(verb.slot); });
    if (!outcome.ok()) return failed(id, outcome.failure());
    busy_[slot] = true;
    cold_ = false;
    return encode_reply(id, EmptyReply{});
  }

  Message answer(std::int64_t id, const PollVerb&) {
    if (const auto refusal = lacks(&EngineDescription::polls)) return failed(id, *refusal);
    PollReply reply;
    Outcome outcome = guarded([&]() -> Outcome {
      for (std::size_t slot = 0; slot < busy_.size(); ++slot) {
        // Whichever call wait_any() gives, it returns at once: one at least has ended.
        if (!busy_[slot] || !engine_.done(static_cast<int>(slot))) continue;
        Completion completion;
        if (Outcome waited = engine_.wait_any(completion); !waited.ok()) return waited;
        busy_.at(static_cast<std::size_t>(completion.slot)) = false;
        reply.ended.push_back(completion);
      }
      return {};
    });
    if (!outcome.ok()) return failed(id, outcome.failure());
    return encode_reply(id, reply);
  }

  Message answer(std::int64_t id, const ExitVerb&) {
    exit_ = true;
    return encode_reply(id, EmptyReply{});
  }

  Engine& engine_;
  MessageReader reader_;
  MessageWriter writer_;
  SystemClock clock_;            // of progress; the loop has the engine's
  std::deque<Message> waiting_;  // read while a measuring ran
  std::optional<std::map<std::string, std::string>> process_settings_;  // as the first load set them
  int slots_ = 0;                                                       // of what is loaded; 0: nothing is
  std::vector<bool> busy_;                                              // slots that 'enqueue' filled
  bool cold_ = false;                                                   // no call since the load
  bool cancelled_ = false;
  bool ended_ = false;  // no more requests will come
  bool exit_ = false;
  Nanoseconds progress_sent_at_{};
  std::optional<Error> trouble_;
};

}  // namespace

Result<void> serve(Engine& engine, int request_descriptor, int reply_descriptor) {
  for (const int descriptor : {request_descriptor, reply_descriptor})
    // Also keeps programs that the engine may start from holding our pipes open.
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0)
      return usage_error(fmt::format(
          "expected requests on file descriptor {} and a place for replies on {}, found no descriptor {}: "
          "deepgap starts this program; to try it by hand, give it to deepgap-worker-conformance",
          request_descriptor, reply_descriptor, descriptor));
  return Server(engine, request_descriptor, reply_descriptor).run();
}

}  // namespace deepgap::run
