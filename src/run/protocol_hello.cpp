// What a worker says of itself, to and from JSON.
#include <algorithm>

#include "run/protocol.h"
#include "run/protocol_parts.h"

namespace deepgap::run {
namespace {

using nlohmann::json;

json json_of_device(const Device& device) {
  json object{
      {"address", device.address}, {"name", device.name}, {"kind", std::string(name_of(device.kind))}};
  if (!device.aliases.empty()) object["aliases"] = device.aliases;
  for (const auto& fact : device.facts)
    object["facts"].push_back({{"name", fact.name}, {"value", fact.value}, {"unit", fact.unit}});
  for (const auto& ceiling : device.ceilings) object["ceilings"].push_back(json_of_ceiling(ceiling));
  return object;
}

Device device_of(Fields& fields) {
  Device device;
  device.address = fields.text("address");
  device.name = fields.text("name");
  device.kind = named(fields, "kind", parse_device_kind, "cpu, gpu");
  if (!fields.optional_list("aliases").empty()) device.aliases = fields.texts("aliases");
  fields.each("facts", false, [&](Fields& fact) {
    device.facts.push_back({fact.text("name"), fact.text("value"), fact.optional_text("unit").value_or("")});
  });
  fields.each("ceilings", false, [&](Fields& ceiling) { device.ceilings.push_back(ceiling_of(ceiling)); });
  return device;
}

constexpr std::string_view name_of(PrecisionMaker maker) {
  return maker == PrecisionMaker::kEngine ? "engine" : "graph_pass";
}
std::optional<PrecisionMaker> parse_precision_maker(std::string_view name) {
  for (const auto maker : {PrecisionMaker::kEngine, PrecisionMaker::kGraphPass})
    if (name_of(maker) == name) return maker;
  return std::nullopt;
}

json json_of_capabilities(const HelloReply& reply) {
  const EngineDescription& engine = reply.engine;
  json object{{"verbs", reply.verbs},
              {"devices", json::array()},
              {"precisions", json::array()},
              {"model_formats", engine.model_formats},
              {"settings", engine.settings},
              {"process_settings", engine.process_settings},
              {"timers", json::array()},
              {"polls", engine.polls},
              {"scheduled_start", reply.scheduled_start},
              {"probes", engine.probes}};
  for (const auto& device : engine.devices) object["devices"].push_back(json_of_device(device));
  for (const auto& [precision, maker] : engine.precisions)
    object["precisions"].push_back(
        {{"name", std::string(deepgap::name_of(precision))}, {"by", std::string(name_of(maker))}});
  if (engine.enqueue_timer) object["timers"].push_back("enqueue");
  if (engine.device_timer) object["timers"].push_back("device");
  return object;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void read_capabilities(Fields& fields, HelloReply& reply) {
  EngineDescription& engine = reply.engine;
  reply.verbs = fields.texts("verbs");
  fields.each("devices", true, [&](Fields& device) { engine.devices.push_back(device_of(device)); });
  fields.each("precisions", true, [&](Fields& entry) {
    const std::string name = entry.text("name");
    const PrecisionMaker maker = named(entry, "by", parse_precision_maker, "engine, graph_pass");
    // A precision of a newer version is one that cannot be asked for.
    if (const auto precision = parse_precision(name)) engine.precisions.emplace_back(*precision, maker);
  });
  engine.model_formats = fields.texts("model_formats");
  engine.settings = fields.texts("settings");
  engine.process_settings = fields.texts("process_settings");
  const auto timers = fields.texts("timers");
  engine.enqueue_timer = contains(timers, "enqueue");
  engine.device_timer = contains(timers, "device");
  engine.polls = fields.optional_boolean("polls").value_or(false);
  reply.scheduled_start = fields.optional_boolean("scheduled_start").value_or(false);
  if (!fields.optional_list("probes").empty()) engine.probes = fields.texts("probes");
  engine.outputs = contains(reply.verbs, "outputs");
  engine.profile = contains(reply.verbs, "profile");
}

}  // namespace

bool HelloReply::has_verb(std::string_view verb) const {
  return contains(verbs, verb);
}

std::optional<PrecisionMaker> HelloReply::maker_of(Precision precision) const {
  for (const auto& [candidate, maker] : engine.precisions)
    if (candidate == precision) return maker;
  return std::nullopt;
}

Message encode_reply(std::int64_t id, const HelloReply& reply) {
  json header{{"id", id}, {"ok", true}};
  header["protocol"] = reply.protocol;
  header["engine"] = reply.engine.name;
  header["engine_version"] = reply.engine.version;
  header["capabilities"] = json_of_capabilities(reply);
  return make_message(std::move(header));
}

Result<HelloReply> decode_hello_reply(const Message& message) {
  const json header = json::parse(message.header, nullptr, false);
  Fields fields(header, "reply to 'hello'");
  HelloReply reply;
  reply.protocol = fields.small_integer("protocol");
  reply.engine.name = fields.text("engine");
  reply.engine.version = fields.text("engine_version");
  Fields capabilities(fields.object("capabilities"), "reply to 'hello', 'capabilities'");
  read_capabilities(capabilities, reply);
  fields.adopt(capabilities);
  if (fields.error()) return *fields.error();
  return reply;
}

}  // namespace deepgap::run
