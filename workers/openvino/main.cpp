// deepgap-worker-openvino: OpenVINO on the CPU, by docs/worker-protocol.md.
#include <cstdio>

#include "openvino_engine.h"
#include "run/worker_server.h"

int main() {
  deepgap::openvino::OpenvinoEngine engine;
  const auto served = deepgap::run::serve(engine);
  if (!served.ok()) std::fprintf(stderr, "deepgap-worker-openvino: %s\n", served.error().message().c_str());
  return served.ok() ? 0 : 70;
}
