#include "checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace deepgap::conformance {

using namespace std::chrono_literals;

Error expected(const std::string& what, const std::string& found) {
  return bad_input("expected " + what + ", found " + found);
}

namespace {
std::string found_of(const Answer& answer) {
  return answer.failed()
             ? "the failure '" + printable(answer.head.failure.kind, 40) + "': " + answer.head.failure.message
             : std::string("success");
}

}  // namespace

Result<void> succeeded(const Answer& answer) {
  if (answer.failed()) return expected("success", found_of(answer));
  return {};
}

Result<void> failed_as(const Answer& answer, std::string_view kind) {
  if (!answer.failed() || answer.head.failure.kind != kind)
    return expected(fmt::format("the failure '{}'", kind), found_of(answer));
  return {};
}

bool Checker::run() {
  if (!hello()) return false;
  if (wants("requests")) refusals();
  if (wants("probing")) probing();
  // All the rest needs a model.
  if (wants("loading") && !loading()) return kept_;
  if (wants("measuring")) measuring();
  if (wants("limits")) warming_up_and_stopping();
  if (wants("scheduling")) scheduling();
  if (wants("cancelling")) cancelling();
  if (wants("verbs")) {
    other_verbs();
    outputs();
    polling();
  }
  if (wants("ending")) ending();
  return kept_;
}

const std::vector<std::string>& rule_groups() {
  static const std::vector<std::string> groups{"requests",   "probing",    "loading", "measuring", "limits",
                                               "scheduling", "cancelling", "verbs",   "ending"};
  return groups;
}

bool Checker::wants(std::string_view group) const {
  return options_.groups.empty() ||
         std::find(options_.groups.begin(), options_.groups.end(), group) != options_.groups.end();
}

bool Checker::virtual_time() const {
  const auto time = options_.settings.find("fake.time");
  return time != options_.settings.end() && time->second == "virtual";
}

bool Checker::rule(std::string_view name, std::string_view meaning, const Check& check) {
  const auto result = check();
  Finding finding{name, meaning, result.ok() ? Verdict::kKept : Verdict::kViolated, ""};
  if (!result.ok()) finding.text = result.error().message();
  kept_ = kept_ && result.ok();
  tell_(finding);
  return result.ok();
}

bool Checker::ready(std::string_view name, const Result<void>& result) {
  if (result.ok()) return true;
  kept_ = false;
  tell_({name, "is ready for the rules that follow", Verdict::kViolated, result.error().message()});
  return false;
}

void Checker::skip(std::string_view name, std::string_view meaning, std::string why) {
  tell_({name, meaning, Verdict::kSkipped, std::move(why)});
}

bool Checker::optional_rule(const char* verb, std::string_view meaning, const Check& check) {
  if (hello_.has_verb(verb)) return rule(verb, meaning, check);
  skip(verb, meaning, "the worker does not name the verb");
  return true;
}

Result<void> Checker::start() {
  connection_.reset();
  DEEPGAP_ASSIGN(Connection connection, Connection::start(options_));
  connection_.emplace(std::move(connection));
  DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::HelloVerb{run::kProtocolVersion, "conformance"}));
  DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
  DEEPGAP_ASSIGN(hello_, run::decode_hello_reply(answer.message));
  return {};
}

Result<void> Checker::start_and_load(Mode mode) {
  DEEPGAP_RETURN_IF_ERROR(start());
  return discard(load(load_request(mode)));
}

run::LoadRequest Checker::load_request(Mode mode, std::int64_t batch) const {
  run::LoadRequest request;
  request.model_path = options_.model_path;
  request.model_format = options_.model_format;
  request.model_name = "conformance";
  request.device = options_.device;
  if (request.device.empty() && !hello_.engine.devices.empty())
    request.device = hello_.engine.devices[0].address;
  // Not an INT8 model unless asked for: this one has no quantisation.
  if (options_.precision)
    request.precision = *options_.precision;
  else if (!hello_.engine.precisions.empty() && !hello_.maker_of(Precision::kFp32))
    request.precision = hello_.engine.precisions[0].first;
  request.mode = mode;
  request.batch = batch;
  request.inputs = options_.inputs;
  for (auto& input : request.inputs)
    if (!input.shape.empty()) input.shape[0] = batch;
  request.input_buffers = 2;
  request.settings = options_.settings;
  if (mode == Mode::kThroughput) request.in_flight = 2;
  return request;
}

Result<run::LoadedReply> Checker::load(const run::LoadRequest& request) {
  DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
  DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
  return run::decode_load_reply(answer.message);
}

run::MeasureVerb Checker::fixed_measure(Mode mode, int in_flight) {
  run::MeasureVerb verb;
  verb.options.mode = mode;
  verb.options.in_flight = in_flight;
  verb.options.warmup_fixed_calls = kFixedWarmup;
  verb.options.stopping.fixed_count = kFixedCount;
  verb.options.stopping.time_limit = 600s;
  return verb;
}

Result<run::MeasureReply> Checker::measure(const run::MeasureVerb& verb,
                                           std::vector<run::MeasureProgress>* progress) {
  DEEPGAP_ASSIGN(const Answer answer, connection_->ask(verb));
  DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
  if (progress != nullptr) *progress = answer.progress;
  return run::decode_measure_reply(answer.message);
}

Result<Answer> Checker::ask_with_other_members(const run::Request& request) {
  const std::int64_t id = connection_->next_id();
  auto header = nlohmann::json::parse(run::encode(id, request).header);
  const auto drop_null = [](nlohmann::json& object, const auto& self) -> void {
    for (auto entry = object.begin(); entry != object.end();) {
      if (entry->is_object()) self(*entry, self);
      entry = entry->is_null() ? object.erase(entry) : std::next(entry);
    }
  };
  drop_null(header, drop_null);
  header["later"] = {{"a", {1, "b", nullptr}}};
  DEEPGAP_RETURN_IF_ERROR(connection_->send_line(header.dump()));
  DEEPGAP_ASSIGN(Answer answer, connection_->receive());
  if (answer.head.id != id)
    return expected(fmt::format("the reply to request {}", id), fmt::format("one to {}", answer.head.id));
  return answer;
}

bool check_worker(const Options& options, const std::function<void(const Finding&)>& tell) {
  return Checker(options, tell).run();
}

}  // namespace deepgap::conformance
