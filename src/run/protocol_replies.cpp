#include <algorithm>
#include <array>

#include "base/text.h"
#include "run/protocol.h"
#include "run/protocol_parts.h"

namespace deepgap::run {
namespace {

using nlohmann::json;

json reply_to(std::int64_t id) {
  return {{"id", id}, {"ok", true}};
}

json json_of_memory(const MemoryUse& memory) {
  json object = json::object();
  if (memory.peak_process) object["peak_process_bytes"] = memory.peak_process->value;
  if (memory.peak_device) object["peak_device_bytes"] = memory.peak_device->value;
  return object;
}

MemoryUse memory_of(Fields& fields, const char* name) {
  MemoryUse memory;
  Fields object(fields.optional_object(name), "'memory'");
  const auto peak_of = [&object](const char* peak) -> std::optional<Bytes> {
    const auto bytes = object.optional_integer(peak);
    if (!bytes) return std::nullopt;
    if (*bytes <= 0) object.fail("'" + std::string(peak) + "' above 0, or none", std::to_string(*bytes));
    return Bytes{*bytes};
  };
  memory.peak_process = peak_of("peak_process_bytes");
  memory.peak_device = peak_of("peak_device_bytes");
  fields.adopt(object);
  return memory;
}

// Fails where a clock gives no such time: one below `least`, or an absurd one.
void check_time(Fields& fields, std::string_view name, Nanoseconds time, Nanoseconds least) {
  if (time >= least && time < kAbsurdTime) return;
  fields.fail("'" + std::string(name) + "' of " + std::to_string(least.count()) + " to 2^62 ns",
              std::to_string(time.count()));
}
constexpr Nanoseconds kNoTime{0};
constexpr Nanoseconds kShortestTime{1};  // of a call

// The samples' columns by the names of their blobs.
struct Column {
  const char* name;
  std::vector<std::int64_t> SampleColumns::*values;
};
constexpr std::array<Column, 4> kColumns{{{"start_ns", &SampleColumns::start_ns},
                                          {"host_ns", &SampleColumns::host_ns},
                                          {"enqueue_ns", &SampleColumns::enqueue_ns},
                                          {"device_ns", &SampleColumns::device_ns}}};

SampleColumns columns_of(const Message& message, Fields& fields) {
  SampleColumns samples;
  bool has_start = false, has_host = false;
  for (const auto& blob : message.blobs) {
    for (const auto& column : kColumns) {
      if (blob.name != column.name) continue;
      if (blob.type != ElementType::kI64)
        fields.fail("the blob '" + blob.name + "' to be of type i64", std::string(name_of(blob.type)));
      samples.*column.values = int64_values(blob);
      has_start = has_start || column.values == &SampleColumns::start_ns;
      has_host = has_host || column.values == &SampleColumns::host_ns;
    }
  }
  if (!has_start || !has_host) fields.fail("the blobs 'start_ns' and 'host_ns'", "not both");
  for (const auto& column : kColumns) {
    const auto& values = samples.*column.values;
    const bool required = column.values == &SampleColumns::start_ns;
    if ((required || !values.empty()) && values.size() != samples.host_ns.size())
      fields.fail("the blob '" + std::string(column.name) + "' to be as long as 'host_ns' (" +
                      std::to_string(samples.host_ns.size()) + ")",
                  std::to_string(values.size()));
    // A start is a moment; and a device may be done with what it was given at once, a call is not.
    const std::int64_t least = column.values == &SampleColumns::host_ns ? 1 : 0;
    const auto wrong = std::find_if(values.begin(), values.end(), [least](std::int64_t value) {
      return value < least || value >= kAbsurdTime.count();
    });
    if (wrong != values.end())
      fields.fail(
          "times of " + std::to_string(least) + " to 2^62 ns in the blob '" + std::string(column.name) + "'",
          std::to_string(*wrong));
  }
  return samples;
}

MeasureProgress progress_of(Fields& fields) {
  MeasureProgress progress;
  progress.phase = named(fields, "phase", parse_measure_phase, "warmup, measure");
  progress.calls = fields.optional_integer("calls").value_or(0);
  progress.elapsed = fields.optional_nanoseconds("elapsed_ns").value_or(Nanoseconds{});
  progress.median = fields.optional_nanoseconds("median_ns");
  progress.width = fields.optional_number("width");
  return progress;
}

}  // namespace

bool process_stays_usable(std::string_view failure_kind) {
  return failure_kind == failures::kBadRequest || failure_kind == failures::kUnsupported ||
         failure_kind == failures::kBadModel;
}

std::string_view name_of(MeasurePhase phase) {
  return phase == MeasurePhase::kWarmup ? "warmup" : "measure";
}
std::optional<MeasurePhase> parse_measure_phase(std::string_view name) {
  for (const auto phase : {MeasurePhase::kWarmup, MeasurePhase::kMeasure})
    if (name_of(phase) == name) return phase;
  return std::nullopt;
}

Message encode_reply(std::int64_t id, const LoadedReply& reply) {
  json header = reply_to(id);
  header["load_ns"] = reply.load_time.count();
  header["slots"] = reply.load.slots;
  header["settings"] = json::array();
  for (const auto& setting : reply.load.settings)
    header["settings"].push_back({{"name", setting.name},
                                  {"requested", json_or_null(setting.requested)},
                                  {"effective", json_or_null(setting.effective)}});
  header["outputs"] = json::array();
  for (const auto& output : reply.load.outputs) header["outputs"].push_back(json_of_tensor(output));
  return make_message(std::move(header));
}

Result<LoadedReply> decode_load_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'load'");
  LoadedReply reply;
  reply.load_time = fields.nanoseconds("load_ns");
  check_time(fields, "load_ns", reply.load_time, kNoTime);
  reply.load.slots = fields.small_integer("slots");
  fields.each("settings", true, [&](Fields& entry) {
    reply.load.settings.push_back(
        {entry.text("name"), entry.optional_text("requested"), entry.optional_text("effective")});
  });
  fields.each("outputs", true, [&](Fields& entry) { reply.load.outputs.push_back(tensor_of(entry)); });
  if (fields.ok() && reply.load.slots < 1)
    fields.fail("'slots' of at least 1", std::to_string(reply.load.slots));
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const MeasureReply& reply) {
  json header = reply_to(id);
  header["first_call_ns"] = json_or_null(reply.first_call);
  header["warmup_calls"] = reply.warmup_calls;
  header["warmup_ns"] = reply.warmup_time.count();
  header["warmup_steady"] = reply.warmup_steady;
  header["stop_reason"] = std::string(deepgap::name_of(reply.stop_reason));
  header["window_ns"] = json_or_null(reply.window);
  header["completed"] = reply.window ? json(reply.completed) : json();
  header["started"] = {{"monotonic_ns", reply.started.monotonic_at.count()},
                       {"realtime_ns", reply.started.realtime_at.count()}};
  header["memory"] = json_of_memory(reply.memory);
  std::vector<Blob> blobs;
  for (const auto& column : kColumns) {
    const auto& values = reply.samples.*column.values;
    const bool required =
        column.values == &SampleColumns::start_ns || column.values == &SampleColumns::host_ns;
    if (required || !values.empty()) blobs.push_back(blob_of(column.name, values));
  }
  return make_message(std::move(header), std::move(blobs));
}

Result<MeasureReply> decode_measure_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'measure'");
  MeasureReply reply;
  reply.first_call = fields.optional_nanoseconds("first_call_ns");
  reply.warmup_calls = fields.integer("warmup_calls");
  if (fields.ok() && reply.warmup_calls < 0)
    fields.fail("'warmup_calls' of at least 0", std::to_string(reply.warmup_calls));
  reply.warmup_time = fields.nanoseconds("warmup_ns");
  check_time(fields, "warmup_ns", reply.warmup_time, kNoTime);
  if (reply.first_call) check_time(fields, "first_call_ns", *reply.first_call, kShortestTime);
  reply.warmup_steady = fields.optional_boolean("warmup_steady").value_or(false);
  reply.stop_reason = named(fields, "stop_reason", parse_stop_reason,
                            "precision_reached, time_limit, sample_limit, fixed_count, cancelled");
  reply.window = fields.optional_nanoseconds("window_ns");
  reply.completed = fields.optional_integer("completed").value_or(0);
  Fields started(fields.object("started"), "reply to 'measure', 'started'");
  reply.started.monotonic_at = started.nanoseconds("monotonic_ns");
  reply.started.realtime_at = started.nanoseconds("realtime_ns");
  fields.adopt(started);
  reply.memory = memory_of(fields, "memory");
  reply.samples = columns_of(message, fields);
  if (reply.window) check_time(fields, "window_ns", *reply.window, kNoTime);
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const RunReply& reply) {
  json header = reply_to(id);
  header["host_ns"] = reply.host.count();
  if (reply.times.enqueue) header["enqueue_ns"] = reply.times.enqueue->count();
  if (reply.times.device) header["device_ns"] = reply.times.device->count();
  return make_message(std::move(header));
}

Result<RunReply> decode_run_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'run'");
  RunReply reply;
  reply.host = fields.nanoseconds("host_ns");
  check_time(fields, "host_ns", reply.host, kShortestTime);
  reply.times.enqueue = fields.optional_nanoseconds("enqueue_ns");
  reply.times.device = fields.optional_nanoseconds("device_ns");
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const OutputsReply& reply) {
  json header = reply_to(id);
  std::vector<Blob> blobs;
  header["outputs"] = json_of_tensors(reply.outputs, blobs);
  return make_message(std::move(header), std::move(blobs));
}

Result<OutputsReply> decode_outputs_reply(Message message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'outputs'");
  OutputsReply reply{tensors_of(fields, "outputs", std::move(message.blobs))};
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const ProfileReply& reply) {
  json header = reply_to(id);
  if (!reply.trace_path.empty()) {
    header["trace_path"] = reply.trace_path;
  } else {
    header["ops"] = json::array();
    for (const auto& op : reply.ops)
      header["ops"].push_back(
          {{"name", op.name}, {"type", op.type}, {"exec_type", op.exec_type}, {"time_ns", op.time.count()}});
  }
  return make_message(std::move(header));
}

Result<ProfileReply> decode_profile_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'profile'");
  ProfileReply reply;
  reply.trace_path = fields.optional_text("trace_path").value_or("");
  fields.each("ops", reply.trace_path.empty(), [&](Fields& op) {
    reply.ops.push_back({op.text("name"), op.text("type"), op.text("exec_type"), op.nanoseconds("time_ns")});
  });
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const ProbeReply& reply) {
  json header = reply_to(id);
  header["ceiling"] = json_of_ceiling(reply.ceiling);
  return make_message(std::move(header));
}

Result<ProbeReply> decode_probe_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'probe'");
  Fields ceiling(fields.object("ceiling"), "reply to 'probe', 'ceiling'");
  ProbeReply reply{ceiling_of(ceiling)};
  fields.adopt(ceiling);
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const MemoryReply& reply) {
  json header = reply_to(id);
  header["memory"] = json_of_memory(reply.memory);
  return make_message(std::move(header));
}

Result<MemoryReply> decode_memory_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'memory'");
  (void)fields.object("memory");
  MemoryReply reply{memory_of(fields, "memory")};
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const PollReply& reply) {
  json header = reply_to(id);
  header["ended"] = json::array();
  for (const auto& completion : reply.ended)
    header["ended"].push_back(
        {{"slot", completion.slot}, {"completed_at_ns", completion.completed_at.count()}});
  return make_message(std::move(header));
}

Result<PollReply> decode_poll_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'poll'");
  PollReply reply;
  fields.each("ended", true, [&](Fields& entry) {
    reply.ended.push_back({entry.small_integer("slot"), entry.nanoseconds("completed_at_ns")});
  });
  if (fields.error()) return *fields.error();
  return reply;
}

Message encode_reply(std::int64_t id, const EmptyReply&) {
  return make_message(reply_to(id));
}

Message encode_failure(std::int64_t id, const EngineFailure& failure) {
  json error{{"kind", failure.kind}, {"message", failure.message}};
  if (failure.bytes_asked) error["bytes_asked"] = failure.bytes_asked->value;
  return make_message({{"id", id}, {"ok", false}, {"error", std::move(error)}});
}

Message encode_progress(std::int64_t id, const MeasureProgress& progress) {
  json header{{"event", "progress"},
              {"id", id},
              {"phase", std::string(name_of(progress.phase))},
              {"calls", progress.calls},
              {"elapsed_ns", progress.elapsed.count()}};
  if (progress.median) header["median_ns"] = progress.median->count();
  if (progress.width) header["width"] = *progress.width;
  return make_message(std::move(header));
}

Result<Incoming> classify(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "message of the worker");
  Incoming incoming;
  if (const auto event = fields.optional_text("event")) {
    incoming.kind = Incoming::Kind::kEvent;
    incoming.event = *event;
    incoming.id = fields.optional_integer("id").value_or(0);
    if (incoming.event == "progress") incoming.progress = progress_of(fields);
  } else {
    incoming.id = fields.integer("id");
    if (!fields.boolean("ok") && fields.ok()) {
      incoming.kind = Incoming::Kind::kFailure;
      Fields error(fields.object("error"), "message of the worker, 'error'");
      incoming.failure.kind = error.text("kind");
      incoming.failure.message = printable(error.text("message"));
      if (const auto bytes = error.optional_integer("bytes_asked"))
        incoming.failure.bytes_asked = Bytes{*bytes};
      fields.adopt(error);
    }
  }
  if (fields.error()) return *fields.error();
  return incoming;
}

}  // namespace deepgap::run
