#include "session/sweep_request.h"

#include <concepts>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace deepgap::session {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json names_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(name_of(value));
  return list;
}

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}
void put(Json& json, const char* name, const std::optional<Nanoseconds>& value) {
  if (value) json[name] = value->count();
}

// get() makes an integer of any number, also of one that is not whole or does not fit.
template <std::integral T>
T whole(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw Json::type_error::create(302, "expected a whole number of its range", &json);
  return json.get<T>();
}

template <typename T>
void take(const Json& json, const char* name, std::optional<T>& value) {
  if (json.contains(name)) value = json.at(name).get<T>();
}
template <std::integral T>
void take(const Json& json, const char* name, std::optional<T>& value) {
  if (json.contains(name)) value = whole<T>(json.at(name));
}
void take(const Json& json, const char* name, std::optional<Nanoseconds>& value) {
  if (json.contains(name)) value = Nanoseconds{whole<std::int64_t>(json.at(name))};
}

Json to_json(const RunOptions& options) {
  Json json;
  json["models"] = options.models;
  json["dims"] = options.dims;
  json["engines"] = options.engines;
  json["devices"] = options.devices;
  json["precisions"] = names_of(options.precisions);
  json["batches"] = options.batches;
  json["modes"] = names_of(options.modes);
  json["settings"] = options.settings;
  put(json, "time_limit_ns", options.time_limit);
  put(json, "target", options.target);
  put(json, "repeats", options.repeats);
  put(json, "most_repeats", options.most_repeats);
  put(json, "in_flight", options.in_flight);
  put(json, "input_buffers", options.input_buffers);
  put(json, "hang_limit_ns", options.hang_limit);
  put(json, "seed", options.seed);
  json["isolate_cell"] = options.isolation == run::Isolation::kCell;
  put(json, "preset", options.preset);
  json["preset_precisions"] = options.preset_precisions;
  json["like_published"] = options.like_published;
  json["asked"] = {{"time_limit", options.asked.time_limit},
                   {"target", options.asked.target},
                   {"input_buffers", options.asked.input_buffers},
                   {"seed", options.asked.seed}};
  return json;
}

run::Asked parse_asked(const Json& json) {
  return {.time_limit = json.at("time_limit").get<bool>(),
          .target = json.at("target").get<bool>(),
          .input_buffers = json.at("input_buffers").get<bool>(),
          .seed = json.at("seed").get<bool>()};
}

}  // namespace

std::string request_json(const RunOptions& options) {
  // A path may hold bytes that are no UTF-8: they are replaced, not thrown at.
  return to_json(options).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunOptions> parse_request(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    RunOptions options;
    options.models = json.at("models").get<std::vector<std::string>>();
    for (const auto& [name, size] : json.at("dims").items()) options.dims[name] = whole<std::int64_t>(size);
    options.engines = json.at("engines").get<std::vector<std::string>>();
    options.devices = json.at("devices").get<std::vector<std::string>>();
    for (const auto& name : json.at("precisions")) {
      const auto precision = parse_precision(name.get<std::string>());
      if (!precision)
        return bad_input("expected the name of a precision in the stored sweep, found '" +
                         printable(name.get<std::string>()) + "'");
      options.precisions.push_back(*precision);
    }
    for (const auto& batch : json.at("batches")) options.batches.push_back(whole<std::int64_t>(batch));
    for (const auto& name : json.at("modes")) {
      const auto mode = parse_mode(name.get<std::string>());
      if (!mode)
        return bad_input("expected the name of a mode in the stored sweep, found '" +
                         printable(name.get<std::string>()) + "'");
      options.modes.push_back(*mode);
    }
    options.settings = json.at("settings").get<std::map<std::string, std::string>>();
    take(json, "time_limit_ns", options.time_limit);
    take(json, "target", options.target);
    take(json, "repeats", options.repeats);
    take(json, "most_repeats", options.most_repeats);
    take(json, "in_flight", options.in_flight);
    take(json, "input_buffers", options.input_buffers);
    take(json, "hang_limit_ns", options.hang_limit);
    take(json, "seed", options.seed);
    options.isolation = json.at("isolate_cell").get<bool>() ? run::Isolation::kCell : run::Isolation::kGroup;
    take(json, "preset", options.preset);
    options.preset_precisions = json.value("preset_precisions", false);
    options.like_published = json.at("like_published").get<bool>();
    if (json.contains("asked")) options.asked = parse_asked(json.at("asked"));  // older sweeps lack it
    return options;
  } catch (const nlohmann::json::exception& error) {
    return bad_input("the stored sweep's request cannot be read (" + printable(error.what()) +
                     "): it was made by another version; start a new sweep");
  }
}

std::vector<std::string> request_differences(const RunOptions& a, const RunOptions& b) {
  std::vector<std::string> names;
  Json left = to_json(a);
  Json right = to_json(b);
  // A default that is said is no other request.
  left.erase("asked");
  right.erase("asked");
  for (const auto& [name, value] : left.items()) {
    if (!right.contains(name) || right.at(name) != value) names.push_back(name);
  }
  for (const auto& [name, value] : right.items()) {
    if (!left.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace deepgap::session
