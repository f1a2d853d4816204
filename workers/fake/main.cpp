// deepgap-worker-fake: a worker without an engine, for tests and demonstrations. Its settings are listed in
// fake_settings.h; $DEEPGAP_FAKE_SCENARIO plants trouble where no setting can be given.
#include <unistd.h>

#include <cstdio>

#include "fake_engine.h"
#include "run/worker_server.h"

int main() {
  deepgap::fake::FakeEngine engine;
  const auto served = deepgap::run::serve(engine);
  if (!served.ok()) std::fprintf(stderr, "deepgap-worker-fake: %s\n", served.error().message().c_str());
  while (engine.ignores_exit()) pause();
  return served.ok() ? 0 : 70;
}
