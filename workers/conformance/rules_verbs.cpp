// The verbs on what is loaded besides measuring, and the probes of a device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "checker.h"
#include "run/protocol_parts.h"

namespace deepgap::conformance {

using namespace std::chrono_literals;

namespace {

Result<std::size_t> bytes_of(const run::TensorSpec& spec) {
  const auto size = run::dtype_size(spec.dtype);
  if (!size) return expected("an input whose type has a known size", "'" + printable(spec.dtype, 60) + "'");
  std::size_t bytes = *size;
  for (const auto extent : spec.shape) bytes *= static_cast<std::size_t>(extent);
  return bytes;
}

}  // namespace

void Checker::other_verbs() {
  if (!ready("load", start_and_load())) return;
  bool going =
      rule("replies.order", "answers requests in their order, also when they wait", [&]() -> Result<void> {
        DEEPGAP_ASSIGN(const std::int64_t first, connection_->send(fixed_measure()));
        DEEPGAP_ASSIGN(const std::int64_t second, connection_->send(run::HelloVerb{}));
        for (const std::int64_t id : {first, second}) {
          DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
          if (answer.head.id != id)
            return expected(fmt::format("the reply to {}", id), fmt::format("one to {}", answer.head.id));
          DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
        }
        return {};
      });
  going =
      going && optional_rule(
                   "run", "makes one call and says its times, as `timers` names them", [&]() -> Result<void> {
                     DEEPGAP_RETURN_IF_ERROR(discard(load(load_request())));
                     DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::RunVerb{}));
                     DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
                     DEEPGAP_ASSIGN(const run::RunReply reply, run::decode_run_reply(answer.message));
                     if (hello_.engine.enqueue_timer && !reply.times.enqueue)
                       return expected("the 'enqueue_ns' that 'timers' names", "none");
                     if (hello_.engine.device_timer && !reply.times.device)
                       return expected("the 'device_ns' that 'timers' names", "none");
                     DEEPGAP_ASSIGN(const run::MeasureReply measured, measure(fixed_measure()));
                     if (measured.first_call)
                       return expected("'first_call_ns' of null in a measuring after it", "a time");
                     return {};
                   });
  going = going && optional_rule("memory", "says what memory it has used", [&]() -> Result<void> {
            DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::MemoryVerb{}));
            DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
            return discard(run::decode_memory_reply(answer.message));
          });
  if (going)
    optional_rule("profile", "gives the time of each op, or a trace", [&]() -> Result<void> {
      DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::ProfileVerb{5}));
      DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
      DEEPGAP_ASSIGN(const run::ProfileReply reply, run::decode_profile_reply(answer.message));
      if (reply.ops.empty() && reply.trace_path.empty()) return expected("ops or a trace", "neither");
      if (!reply.trace_path.empty() && access(reply.trace_path.c_str(), R_OK) != 0)
        return expected("a file at 'trace_path' that can be read",
                        "none at '" + printable(reply.trace_path, 100) + "'");
      for (const auto& op : reply.ops)
        if (op.time < Nanoseconds{} || op.time >= run::kAbsurdTime)
          return expected("times of ops of 0 to 2^62 ns", std::to_string(op.time.count()));
      return {};
    });
}

void Checker::outputs() {
  if (!hello_.has_verb("outputs")) {
    skip("outputs", "gives outputs whose bytes fit their shapes", "the worker does not name the verb");
    return;
  }
  if (!ready("load", start_and_load())) return;
  const auto outputs_of = [this](const run::OutputsVerb& verb) -> Result<std::vector<run::Tensor>> {
    DEEPGAP_ASSIGN(Answer answer, connection_->ask(verb));
    DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
    for (const auto& blob : answer.message.blobs)
      if (blob.type != run::ElementType::kBytes)
        return expected("blobs of type 'bytes'", "'" + std::string(name_of(blob.type)) + "'");
    DEEPGAP_ASSIGN(run::OutputsReply reply, run::decode_outputs_reply(std::move(answer.message)));
    if (reply.outputs.empty()) return expected("an output", "none");
    return std::move(reply.outputs);
  };
  bool going =
      rule("outputs", "gives outputs whose bytes fit their shapes", [&] { return discard(outputs_of({})); });
  going = going && rule("outputs.inputs", "takes inputs with the request", [&]() -> Result<void> {
            run::OutputsVerb verb;
            for (const auto& spec : load_request().inputs) {
              DEEPGAP_ASSIGN(const std::size_t bytes, bytes_of(spec));
              verb.inputs.push_back({spec, std::vector<std::byte>(bytes)});  // all zero: valid in every type
            }
            return discard(outputs_of(verb));
          });
  if (!options_.own_model || !going) return;
  rule("outputs.seed", "draws the same input values from the same seed, others from another",
       [&]() -> Result<void> {
         std::vector<std::vector<std::byte>> found;
         for (const std::uint64_t seed : {7u, 7u, 8u}) {
           run::LoadRequest request = load_request(Mode::kLatency, 8);
           request.seed = seed;
           DEEPGAP_RETURN_IF_ERROR(discard(load(request)));
           DEEPGAP_ASSIGN(auto tensors, outputs_of({}));
           found.push_back(std::move(tensors.front().bytes));
         }
         if (found[0] != found[1]) return expected("the same outputs of two loads with one seed", "others");
         if (found[1] == found[2]) return expected("other outputs of a load with another seed", "the same");
         return {};
       });
}

void Checker::polling() {
  constexpr std::string_view kMeaning = "starts calls and says without waiting which have ended, each once";
  if (!hello_.engine.polls) {
    skip("poll", kMeaning, "the worker does not say that it polls");
    return;
  }
  if (!ready("load", start())) return;
  rule("poll", kMeaning, [&]() -> Result<void> {
    DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(Mode::kThroughput)));
    std::vector<bool> busy(static_cast<std::size_t>(loaded.load.slots), true);
    const Nanoseconds begun_at = clock_.monotonic();
    for (int slot = 0; slot < loaded.load.slots; ++slot) {
      DEEPGAP_ASSIGN(const Answer started, connection_->ask(run::EnqueueVerb{slot}));
      DEEPGAP_RETURN_IF_ERROR(succeeded(started));
    }
    // Once more when all have ended: none is told twice.
    for (bool last = false; !last;) {
      last = std::find(busy.begin(), busy.end(), true) == busy.end();
      const Nanoseconds asked_at = clock_.monotonic();
      if (asked_at - begun_at > options_.patience)
        return expected("the calls to end", "one that did not within " + format_duration(options_.patience));
      DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::PollVerb{}));
      DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
      DEEPGAP_ASSIGN(const run::PollReply reply, run::decode_poll_reply(answer.message));
      for (const auto& [slot, completed_at] : reply.ended) {
        const auto index = static_cast<std::size_t>(slot);
        if (slot < 0 || index >= busy.size() || !busy[index])
          return expected("ends of calls in flight, each once", fmt::format("one of slot {}", slot));
        busy[index] = false;
        if (completed_at < begun_at || (completed_at > clock_.monotonic() && !virtual_time()))
          return expected("'completed_at_ns' between 'enqueue' and the reply, on CLOCK_MONOTONIC",
                          std::to_string(completed_at.count()));
      }
      if (!last) clock_.sleep(1ms);
    }
    return {};
  });
}

void Checker::probing() {
  constexpr std::string_view kMeaning = "measures each quantity of `probes` on each device, and no other";
  if (!hello_.has_verb("probe")) {
    skip("probe", kMeaning, "the worker does not name the verb");
    return;
  }
  if (!ready("probe", start())) return;
  rule("probe", kMeaning, [&]() -> Result<void> {
    for (const auto& device : hello_.engine.devices)
      for (const auto& quantity : hello_.engine.probes) {
        DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::ProbeVerb{device.address, quantity}));
        DEEPGAP_RETURN_IF_ERROR(succeeded(answer).in("'" + printable(quantity, 60) + "'"));
        DEEPGAP_ASSIGN(const run::ProbeReply reply, run::decode_probe_reply(answer.message));
        if (reply.ceiling.quantity != quantity)
          return expected("a ceiling of '" + printable(quantity, 60) + "'",
                          "one of '" + printable(reply.ceiling.quantity, 60) + "'");
        if (!std::isfinite(reply.ceiling.value) || reply.ceiling.value <= 0)
          return expected("a ceiling above 0", fmt::format("{}", reply.ceiling.value));
      }
    const std::string device = hello_.engine.devices.front().address;
    for (const run::ProbeVerb& other : {run::ProbeVerb{device, "conformance.unknown"},
                                        run::ProbeVerb{"abacus:0", hello_.engine.probes.front()}}) {
      DEEPGAP_ASSIGN(const Answer answer, connection_->ask(other));
      DEEPGAP_RETURN_IF_ERROR(
          failed_as(answer, run::failures::kUnsupported)
              .in(fmt::format("'{}' on '{}'", other.quantity, printable(other.device, 40))));
    }
    return {};
  });
}

}  // namespace deepgap::conformance
