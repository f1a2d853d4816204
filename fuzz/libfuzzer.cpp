// The fuzzer of all targets: DEEPGAP_FUZZ_TARGET=cpu_lists deepgap_fuzz CORPUS-FOLDER... [libFuzzer's
// options] With DEEPGAP_FUZZ_SEEDS=FOLDER it writes the target's seeds there first.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/file_system.h"
#include "target.h"

namespace {

const deepgap::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*count*/, char*** /*arguments*/) {
  const char* name = std::getenv("DEEPGAP_FUZZ_TARGET");
  chosen = deepgap::fuzz::find_target(name == nullptr ? "" : name);
  if (chosen == nullptr) {
    std::fputs("error: expected the environment variable DEEPGAP_FUZZ_TARGET to name one of:\n", stderr);
    for (const deepgap::fuzz::Target* target : deepgap::fuzz::all_targets()) {
      std::fprintf(stderr, "  %-16s %s\n", target->name.data(), target->what.data());
    }
    std::exit(2);
  }
  if (const char* folder = std::getenv("DEEPGAP_FUZZ_SEEDS")) {
    for (const deepgap::fuzz::Seed& seed : chosen->seeds()) {
      const auto written = deepgap::write_file_atomically(std::string(folder) + "/" + seed.name, seed.bytes);
      deepgap::fuzz::require(written.ok(), "seeds can be written");
    }
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
