#include "trace/label_words.h"

#include <array>

namespace deepgap::trace {

const LabelWords& words_of(Label label) {
  static constexpr std::array<LabelWords, kLabels> kWords{{
      {"kernel", "computes", ""},
      {"copies", "copies or sets memory",
       "pinned memory and copies on a stream of their own, beside the kernels; data that stays on the "
       "device"},
      {"launch", "waits for the host to launch the next work",
       "CUDA graphs, torch.compile(mode=\"reduce-overhead\"), fused ops, a larger batch"},
      {"framework", "waits while the host is between ops (Python, data loading, a sleep)",
       "data loaded in workers ahead of the step, less Python between ops"},
      {"queue", "has the next work queued and has not begun it", "fewer and larger kernels, CUDA graphs"},
      {"contention", "has work queued, and something else seems to have the device or the host",
       "a device and cores that nothing else uses (nvidia-smi, top), and a new profile"},
      {"allocation", "waits for memory to be taken or given back",
       "the framework's caching allocator, buffers that are used again"},
      {"synchronisation", "waits for the host that waits for it (.item(), synchronising calls)",
       "no .item(), .cpu() or printing of tensors within a step"},
      {"copy wait", "waits while the host waits for a copy",
       "pinned memory (pin_memory=True) with non_blocking=True, fewer and larger copies"},
      {"CPU op", "waits for an op that runs on the CPU", "the same op on the device"},
      {"startup", "waits for loading, compiling, first calls or autotuning",
       "steps before those that are profiled: it does not come back"},
      {"unknown", "does nothing on record",
       "host activities, and all devices' work, recorded from before the first step"},
  }};
  return kWords[static_cast<std::size_t>(label)];
}

}  // namespace deepgap::trace
