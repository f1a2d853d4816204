#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "run/protocol.h"
#include "run/protocol_parts.h"

namespace deepgap::run {
namespace {

using nlohmann::json;

// In the order of the alternatives of Request.
constexpr std::array<std::string_view, std::variant_size_v<Request>> kVerbs{
    "hello",   "load",  "measure", "cancel",  "run",  "outputs",
    "profile", "probe", "memory",  "enqueue", "poll", "exit"};

void write(const HelloVerb& verb, json& header, std::vector<Blob>&) {
  header["protocol"] = verb.protocol;
  header["deepgap_version"] = verb.deepgap_version;
}

void write(const LoadRequest& request, json& header, std::vector<Blob>&) {
  header["model"] = {{"path", request.model_path},
                     {"format", request.model_format},
                     {"name", request.model_name},
                     {"hash", request.model_hash}};
  header["device"] = request.device;
  header["precision"] = std::string(name_of(request.precision));
  header["mode"] = std::string(name_of(request.mode));
  header["batch"] = request.batch;
  header["inputs"] = json::array();
  for (const auto& input : request.inputs) {
    json entry = json_of_tensor(input);
    entry["low"] = input.low;
    entry["high"] = input.high;
    header["inputs"].push_back(std::move(entry));
  }
  header["input_buffers"] = request.input_buffers;
  header["seed"] = request.seed;
  header["in_flight"] = json_or_null(request.in_flight);
  header["settings"] = request.settings;
}

void write(const MeasureVerb& verb, json& header, std::vector<Blob>&) {
  const MeasureOptions& options = verb.options;
  header["mode"] = std::string(name_of(options.mode));
  header["warmup"] = {{"min_calls", options.warmup.min_calls},
                      {"min_ns", options.warmup.min_time.count()},
                      {"max_ns", options.warmup.time_limit.count()},
                      {"fixed_calls", json_or_null(options.warmup_fixed_calls)}};
  header["stop"] = {{"target", options.stopping.target_relative_half_width},
                    {"confidence", options.stopping.confidence},
                    {"min_samples", options.stopping.min_samples},
                    {"min_ns", options.stopping.min_time.count()},
                    {"time_limit_ns", options.stopping.time_limit.count()},
                    {"max_samples", options.stopping.max_samples},
                    {"fixed_count", json_or_null(options.stopping.fixed_count)}};
  header["in_flight"] = options.in_flight;
  header["start_at_ns"] = json_or_null(options.start_at);
}

void write(const OutputsVerb& verb, json& header, std::vector<Blob>& blobs) {
  header["inputs"] = json_of_tensors(verb.inputs, blobs);
}
void write(const ProfileVerb& verb, json& header, std::vector<Blob>&) {
  header["calls"] = verb.calls;
}
void write(const ProbeVerb& verb, json& header, std::vector<Blob>&) {
  header["device"] = verb.device;
  header["quantity"] = verb.quantity;
}
void write(const EnqueueVerb& verb, json& header, std::vector<Blob>&) {
  header["slot"] = verb.slot;
}
void write(const CancelVerb&, json&, std::vector<Blob>&) {}
void write(const RunVerb&, json&, std::vector<Blob>&) {}
void write(const MemoryVerb&, json&, std::vector<Blob>&) {}
void write(const PollVerb&, json&, std::vector<Blob>&) {}
void write(const ExitVerb&, json&, std::vector<Blob>&) {}

HelloVerb read_hello(Fields& fields) {
  HelloVerb verb;
  verb.protocol = fields.small_integer("protocol");
  verb.deepgap_version = fields.optional_text("deepgap_version").value_or("");
  return verb;
}

constexpr const char* kPrecisionChoices = "fp64, fp32, tf32, fp16, bf16, int8, fp8-e4m3, fp8-e5m2";
constexpr const char* kModeChoices = "latency, throughput, server";

std::uint64_t read_seed(Fields& fields, const json& header) {
  const auto entry = header.find("seed");
  // The one number that may use all of 64 bits without a sign.
  if (entry != header.end() && entry->is_number_unsigned()) return entry->get<std::uint64_t>();
  return static_cast<std::uint64_t>(fields.optional_integer("seed").value_or(1));
}

LoadRequest read_load(Fields& fields, const json& header) {
  LoadRequest request;
  Fields model(fields.object("model"), "request 'load', 'model'");
  request.model_path = model.text("path");
  request.model_format = model.optional_text("format").value_or("onnx");
  request.model_name = model.optional_text("name").value_or("");
  request.model_hash = model.optional_text("hash").value_or("");
  fields.adopt(model);
  request.device = fields.text("device");
  request.precision = named(fields, "precision", parse_precision, kPrecisionChoices);
  request.mode = named(fields, "mode", parse_mode, kModeChoices);
  request.batch = fields.integer("batch");
  fields.each("inputs", true, [&](Fields& input) { request.inputs.push_back(tensor_of(input)); });
  request.input_buffers = fields.optional_small_integer("input_buffers").value_or(1);
  request.seed = read_seed(fields, header);
  request.in_flight = fields.optional_small_integer("in_flight");
  for (const auto& [name, value] : fields.optional_object("settings").items()) {
    if (value.is_string())
      request.settings[name] = value.get<std::string>();
    else
      fields.fail("each of 'settings' to be text", "'" + printable(value.dump(-1, ' ', true), 60) + "'");
  }
  if (request.batch < 1) fields.fail("'batch' of at least 1", std::to_string(request.batch));
  if (request.input_buffers < 1)
    fields.fail("'input_buffers' of at least 1", std::to_string(request.input_buffers));
  if (request.in_flight && *request.in_flight < 1)
    fields.fail("'in_flight' of at least 1 or null", std::to_string(*request.in_flight));
  return request;
}

MeasureVerb read_measure(Fields& fields) {
  MeasureOptions options;
  options.mode = named(fields, "mode", parse_mode, kModeChoices);
  Fields warmup(fields.object("warmup"), "request 'measure', 'warmup'");
  options.warmup.min_calls = warmup.optional_integer("min_calls").value_or(options.warmup.min_calls);
  options.warmup.min_time = warmup.optional_nanoseconds("min_ns").value_or(options.warmup.min_time);
  options.warmup.time_limit = warmup.optional_nanoseconds("max_ns").value_or(options.warmup.time_limit);
  options.warmup_fixed_calls = warmup.optional_integer("fixed_calls");
  fields.adopt(warmup);
  Fields stop(fields.object("stop"), "request 'measure', 'stop'");
  auto& stopping = options.stopping;
  stopping.target_relative_half_width =
      stop.optional_number("target").value_or(stopping.target_relative_half_width);
  stopping.confidence = stop.optional_number("confidence").value_or(stopping.confidence);
  stopping.min_samples = stop.optional_integer("min_samples").value_or(stopping.min_samples);
  stopping.min_time = stop.optional_nanoseconds("min_ns").value_or(stopping.min_time);
  stopping.time_limit = stop.nanoseconds("time_limit_ns");
  stopping.max_samples = stop.optional_integer("max_samples").value_or(stopping.max_samples);
  stopping.fixed_count = stop.optional_integer("fixed_count");
  if (stopping.confidence <= 0 || stopping.confidence >= 1)
    stop.fail("'confidence' between 0 and 1", fmt::format("{}", stopping.confidence));
  if (stopping.max_samples < 1)
    stop.fail("'max_samples' of at least 1", std::to_string(stopping.max_samples));
  if (stopping.fixed_count && *stopping.fixed_count < 1)
    stop.fail("'fixed_count' of at least 1 or null", std::to_string(*stopping.fixed_count));
  fields.adopt(stop);
  options.in_flight = fields.optional_small_integer("in_flight").value_or(1);
  if (options.in_flight < 1) fields.fail("'in_flight' of at least 1", std::to_string(options.in_flight));
  options.start_at = fields.optional_nanoseconds("start_at_ns");
  return {options};
}

Request read_request(std::string_view verb, Fields& fields, const json& header, std::vector<Blob> blobs) {
  if (verb == "hello") return read_hello(fields);
  if (verb == "load") return read_load(fields, header);
  if (verb == "measure") return read_measure(fields);
  if (verb == "run") return RunVerb{};
  if (verb == "outputs") return OutputsVerb{tensors_of(fields, "inputs", std::move(blobs))};
  if (verb == "profile") {
    const ProfileVerb profile{fields.optional_small_integer("calls").value_or(ProfileVerb{}.calls)};
    if (profile.calls < 1) fields.fail("'calls' of at least 1", std::to_string(profile.calls));
    return profile;
  }
  if (verb == "probe") return ProbeVerb{fields.text("device"), fields.text("quantity")};
  if (verb == "memory") return MemoryVerb{};
  if (verb == "enqueue") return EnqueueVerb{fields.small_integer("slot")};
  if (verb == "poll") return PollVerb{};
  if (verb == "cancel") return CancelVerb{};
  return ExitVerb{};
}

bool is_verb(std::string_view verb) {
  for (const auto known : kVerbs)
    if (known == verb) return true;
  return false;
}

}  // namespace

std::string_view verb_of(const Request& request) {
  return kVerbs[request.index()];
}

Message encode(std::int64_t id, const Request& request) {
  json header{{"id", id}, {"verb", std::string(verb_of(request))}};
  std::vector<Blob> blobs;
  std::visit([&](const auto& alternative) { write(alternative, header, blobs); }, request);
  return make_message(std::move(header), std::move(blobs));
}

Result<ReceivedRequest> decode_request(Message message) {
  const json header = json::parse(message.header, nullptr, /*allow_exceptions=*/false);
  Fields head(header, "request");
  ReceivedRequest received;
  received.id = head.integer("id");
  if (head.ok() && received.id < 1)
    head.fail("'id' to be a positive whole number", std::to_string(received.id));
  if (head.error()) return *head.error();
  received.verb = head.text("verb");
  if (head.error()) {
    received.failure = {std::string(failures::kBadRequest), head.error()->message(), std::nullopt};
    return received;
  }
  if (!is_verb(received.verb)) {
    received.failure = {std::string(failures::kUnsupported),
                        fmt::format("expected one of the verbs {}, found '{}'", fmt::join(kVerbs, ", "),
                                    printable(received.verb, 60)),
                        std::nullopt};
    return received;
  }
  Fields fields(header, "request '" + received.verb + "'");
  Request request = read_request(received.verb, fields, header, std::move(message.blobs));
  if (fields.error())
    received.failure = {std::string(failures::kBadRequest), fields.error()->message(), std::nullopt};
  else
    received.request = std::move(request);
  return received;
}

}  // namespace deepgap::run
