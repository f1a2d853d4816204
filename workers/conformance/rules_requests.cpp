// What a worker says of itself, refuses and loads, and how it ends.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checker.h"

namespace deepgap::conformance {

using run::failures::kBadModel;
using run::failures::kUnsupported;
using namespace std::chrono_literals;

bool Checker::hello() {
  if (!rule("start", "starts and answers `hello` with its name, version and capabilities",
            [&] { return start(); }))
    return false;
  return rule("hello.capabilities",
              "names itself, protocol 1, a device, a precision, a format, the verbs it must have",
              [&]() -> Result<void> {
                if (hello_.protocol != run::kProtocolVersion)
                  return expected(fmt::format("protocol {}", run::kProtocolVersion),
                                  std::to_string(hello_.protocol));
                if (hello_.engine.name.empty() || hello_.engine.version.empty())
                  return expected("an engine's name and version", "an empty one");
                for (const char* verb : {"hello", "load", "measure", "exit"})
                  if (!hello_.has_verb(verb)) return expected(fmt::format("the verb '{}'", verb), "none");
                if (hello_.engine.devices.empty()) return expected("a device", "none");
                if (hello_.engine.precisions.empty())
                  return expected("a precision that deepgap knows", "none");
                if (hello_.engine.model_formats.empty()) return expected("a model format", "none");
                for (const char* verb : {"enqueue", "poll"})
                  if (hello_.has_verb(verb) != hello_.engine.polls)
                    return expected("the verbs 'enqueue' and 'poll' where 'polls' is true",
                                    fmt::format("'polls' of {} {} '{}'", hello_.engine.polls,
                                                hello_.engine.polls ? "without" : "with", verb));
                if (hello_.has_verb("probe") == hello_.engine.probes.empty())
                  return expected("the verb 'probe' where 'probes' names quantities",
                                  hello_.engine.probes.empty() ? "it without any" : "them without it");
                for (const auto& name : hello_.engine.process_settings)
                  if (std::count(hello_.engine.settings.begin(), hello_.engine.settings.end(), name) == 0)
                    return expected("each of process_settings among settings",
                                    "'" + printable(name, 60) + "' only there");
                return {};
              });
}

void Checker::refusals() {
  if (!ready("request", start())) return;
  bool going = rule("request.unknown_member", "ignores members that it does not know", [&]() -> Result<void> {
    DEEPGAP_RETURN_IF_ERROR(connection_->send_line(
        fmt::format(R"({{"id":{},"verb":"hello","protocol":1,"deepgap_version":"x","later":{{"a":[1]}}}})",
                    connection_->next_id())));
    DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
    return succeeded(answer);
  });
  going =
      going && rule("request.unknown_verb", "answers a verb that it does not have with `unsupported`",
                    [&]() -> Result<void> {
                      const auto id = connection_->next_id();
                      DEEPGAP_RETURN_IF_ERROR(
                          connection_->send_line(fmt::format(R"({{"id":{},"verb":"levitate"}})", id)));
                      DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
                      if (answer.head.id != id)
                        return expected(fmt::format("the reply to {}", id), std::to_string(answer.head.id));
                      return failed_as(answer, kUnsupported);
                    });
  going = going && rule("request.large", "reads a request of a mebibyte, and of 64 lists within each other",
                        [&]() -> Result<void> {
                          const std::string nested = std::string(62, '[') + std::string(62, ']');
                          std::string line =
                              fmt::format(R"({{"id":{},"verb":"hello","protocol":1,"nested":{},"later":")",
                                          connection_->next_id(), nested);
                          line.resize(run::kLineLimit - 3, 'x');  // with its end
                          DEEPGAP_RETURN_IF_ERROR(connection_->send_line(line + "\"}"));
                          DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
                          return succeeded(answer);
                        });
  going =
      going &&
      rule("hello.other_protocol", "answers a version that it does not speak with `unsupported`",
           [&]() -> Result<void> {
             DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::HelloVerb{1'000'000, "conformance"}));
             return failed_as(answer, kUnsupported);
           });
  going =
      going && rule("request.unnamed_verbs", "answers each verb that it does not name with `unsupported`",
                    [&]() -> Result<void> {
                      // Not `cancel`, which is never sent to a worker that does not name it.
                      for (const run::Request& request : std::vector<run::Request>{
                               run::RunVerb{}, run::OutputsVerb{}, run::ProfileVerb{}, run::MemoryVerb{},
                               run::ProbeVerb{load_request().device, "bandwidth.memory"}, run::EnqueueVerb{},
                               run::PollVerb{}}) {
                        if (hello_.has_verb(run::verb_of(request))) continue;
                        DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
                        DEEPGAP_RETURN_IF_ERROR(
                            failed_as(answer, kUnsupported).in(fmt::format("'{}'", run::verb_of(request))));
                      }
                      return {};
                    });
  going = going &&
          rule("measure.before_load", "refuses to measure before a model is loaded", [&]() -> Result<void> {
            DEEPGAP_ASSIGN(const Answer answer, connection_->ask(fixed_measure()));
            if (!answer.failed()) return expected("a failure", "success");
            return {};
          });
  const auto refuses = [&](auto change) {
    return [this, change]() -> Result<void> {
      run::LoadRequest request = load_request();
      change(request);
      DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
      return failed_as(answer, kUnsupported);
    };
  };
  going = going &&
          rule("load.unknown_setting", "answers a setting that it does not know with `unsupported`",
               refuses([](run::LoadRequest& request) { request.settings["conformance.unknown"] = "1"; }));
  going = going && rule("load.unknown_device", "answers a device that it does not have with `unsupported`",
                        refuses([](run::LoadRequest& request) { request.device = "abacus:0"; }));
  for (const Precision precision : all_precisions()) {
    if (!going || hello_.maker_of(precision)) continue;
    going = false;  // one will do
    rule("load.unknown_precision", "answers a precision that it does not have with `unsupported`",
         refuses([precision](run::LoadRequest& request) { request.precision = precision; }));
  }
}

bool Checker::loading() {
  if (!rule("load.reply", "loads the model and says slots, settings, outputs and the time it took",
            [&]() -> Result<void> {
              DEEPGAP_RETURN_IF_ERROR(start());
              const Nanoseconds begun_at = clock_.monotonic();
              DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request()));
              const Nanoseconds took = clock_.monotonic() - begun_at;
              if (loaded.load_time > took && !virtual_time())
                return expected(
                    "a 'load_ns' of at most the " + format_duration(took) + " from the request to the reply",
                    format_duration(loaded.load_time));
              return {};
            }))
    return false;
  bool going = rule("load.settings", "brings every requested setting back", [&]() -> Result<void> {
    DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request()));
    for (const auto& [name, value] : options_.settings) {
      const auto row =
          std::find_if(loaded.load.settings.begin(), loaded.load.settings.end(),
                       [&wanted = name](const Setting& setting) { return setting.name == wanted; });
      if (row == loaded.load.settings.end()) return expected("a row for '" + name + "'", "none");
      if (row->requested != value)
        return expected("'" + name + "' requested as '" + value + "'",
                        "'" + row->requested.value_or("") + "'");
    }
    return {};
  });
  going =
      going && rule("load.again", "replaces what was loaded, here by another batch", [&]() -> Result<void> {
        DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(Mode::kLatency, 2)));
        for (const auto& output : loaded.load.outputs)
          for (const auto extent : output.shape)
            if (extent < 0) return expected("shapes without unknown extents", std::to_string(extent));
        DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(fixed_measure()));
        if (reply.samples.size() == 0) return expected("samples", "none");
        if (!reply.first_call) return expected("'first_call_ns' after each load", "none");
        return {};
      });
  going = going &&
          rule("load.other_members", "takes a load with members that it does not know, without null ones",
               [&]() -> Result<void> {
                 DEEPGAP_ASSIGN(const Answer answer, ask_with_other_members(load_request()));
                 return succeeded(answer);
               });
  going =
      going && rule("load.failed", "has nothing loaded after a load that failed, and loads again",
                    [&]() -> Result<void> {
                      run::LoadRequest request = load_request();
                      request.device = "abacus:0";
                      DEEPGAP_ASSIGN(const Answer refused, connection_->ask(request));
                      DEEPGAP_RETURN_IF_ERROR(failed_as(refused, kUnsupported));
                      DEEPGAP_ASSIGN(const Answer measured, connection_->ask(fixed_measure()));
                      if (!measured.failed())
                        return expected("a measuring after it to fail", "success: the model before was kept");
                      DEEPGAP_RETURN_IF_ERROR(discard(load(load_request())));
                      return discard(measure(fixed_measure()));
                    });
  going =
      going && rule("load.slots", "chooses the calls in flight where `in_flight` is null, and takes so many",
                    [&]() -> Result<void> {
                      run::LoadRequest request = load_request(Mode::kThroughput);
                      request.in_flight = std::nullopt;
                      DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(request));
                      const run::MeasureVerb verb = fixed_measure(Mode::kThroughput, loaded.load.slots);
                      DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
                      return plausible(verb, reply);
                    });
  if (going)
    rule("load.no_model", "answers a file that is no model with `bad_model`, or does not read it",
         [&]() -> Result<void> {
           run::LoadRequest request = load_request();
           request.model_path = options_.worker;  // a program, not a model
           DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
           if (!answer.failed()) return {};
           DEEPGAP_RETURN_IF_ERROR(failed_as(answer, kBadModel));
           // The process stays usable.
           return discard(load(load_request()));
         });
  return true;
}

void Checker::ending() {
  const auto ends_with_zero = [this]() -> Result<void> {
    DEEPGAP_ASSIGN(const ExitStatus status, connection_->wait_for_exit(options_.patience / 3));
    if (status.code != 0) return expected("exit code 0", status.describe());
    return {};
  };
  rule("exit", "answers `exit`, then ends with code 0", [&]() -> Result<void> {
    DEEPGAP_RETURN_IF_ERROR(start_and_load());
    DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::ExitVerb{}));
    DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
    DEEPGAP_RETURN_IF_ERROR(ends_with_zero());
    return connection_->receive_end();  // exactly one reply
  });
  rule("end_of_requests", "ends with code 0 when its requests end, also after a measuring",
       [&]() -> Result<void> {
         DEEPGAP_RETURN_IF_ERROR(start_and_load());
         DEEPGAP_RETURN_IF_ERROR(discard(measure(fixed_measure())));
         clock_.sleep(200ms);  // it must still be there
         connection_->close_requests();
         return ends_with_zero();
       });
  rule("end_of_requests.measuring", "ends with code 0 also when its requests end while it measures",
       [&]() -> Result<void> {
         DEEPGAP_RETURN_IF_ERROR(start_and_load());
         run::MeasureVerb verb = fixed_measure();
         verb.options.stopping.fixed_count = 1'000'000'000;
         verb.options.stopping.time_limit = 1s;
         DEEPGAP_RETURN_IF_ERROR(discard(connection_->send(verb)));
         clock_.sleep(200ms);
         connection_->close_requests();
         (void)connection_->receive();  // its reply, if it still gives one, may be more than a pipe holds
         return ends_with_zero();
       });
  rule("request.malformed", "ends the connection at a line that is no JSON object", [&]() -> Result<void> {
    DEEPGAP_RETURN_IF_ERROR(start());
    DEEPGAP_RETURN_IF_ERROR(connection_->send_line("levitate, please"));
    return connection_->receive_end();
  });
}

}  // namespace deepgap::conformance
