// engines, models, devices, formats.

#include "session/catalogue.h"

#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr PositionalSpec kDevice[] = {{"NAME", "one device by address, name or alias", 0, 1}};

Result<session::Answer> engines(const Arguments&, session::Environment& environment) {
  return session::engines(environment);
}
Result<session::Answer> models(const Arguments&, session::Environment&) {
  return session::models();
}
Result<session::Answer> devices(const Arguments& arguments, session::Environment& environment) {
  return session::devices(environment, arguments.text("NAME"));
}
Result<session::Answer> formats(const Arguments&, session::Environment&) {
  return session::formats();
}

}  // namespace

const CommandSpec& engines_command() {
  static const CommandSpec command{"engines",
                                   "Show what can run here, and why something cannot",
                                   "Each engine is a worker program of its own, asked what it can do.",
                                   {},
                                   {},
                                   {},
                                   engines};
  return command;
}

const CommandSpec& models_command() {
  static const CommandSpec command{
      "models",
      "Show the built-in models",
      "They are generated as ONNX with seeded random weights, the same on every machine.",
      {},
      {},
      {},
      models};
  return command;
}

const CommandSpec& devices_command() {
  static const CommandSpec command{"devices",
                                   "Show this machine's devices and what they can reach",
                                   "Facts and ceilings with their origin; what cannot be read is left out.",
                                   kDevice,
                                   {},
                                   {},
                                   devices};
  return command;
}

const CommandSpec& formats_command() {
  static const CommandSpec command{"formats", "Show the foreign formats that can be read", "", {}, {}, {},
                                   formats};
  return command;
}

}  // namespace deepgap::app
