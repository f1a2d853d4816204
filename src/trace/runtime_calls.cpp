#include "trace/runtime_calls.h"

#include <algorithm>
#include <array>

namespace deepgap::trace {
namespace {

struct Rule {
  std::string_view part;  // of the name without its maker's prefix
  CallKind kind;
};

// The first that the name begins with, so that the longer stand before the shorter.
constexpr Rule kRules[] = {
    {"LaunchHostFunc", CallKind::kOther},
    {"Launch", CallKind::kLaunch},
    {"ExtLaunch", CallKind::kLaunch},
    {"ModuleLaunch", CallKind::kLaunch},
    {"ExtModuleLaunch", CallKind::kLaunch},
    {"GraphLaunch", CallKind::kLaunchGraph},
    {"GraphInstantiate", CallKind::kLoad},
    {"DeviceSynchronize", CallKind::kSynchronise},
    {"StreamSynchronize", CallKind::kSynchronise},
    {"EventSynchronize", CallKind::kSynchronise},
    {"CtxSynchronize", CallKind::kSynchronise},
    {"ThreadSynchronize", CallKind::kSynchronise},
    {"StreamWaitValue", CallKind::kOther},
    {"_signal_wait", CallKind::kSynchronise},  // of HSA
    {"EventQuery", CallKind::kQuery},
    {"StreamQuery", CallKind::kQuery},
    {"MallocFromPoolAsync", CallKind::kAllocate},
    {"Malloc", CallKind::kAllocate},
    {"ExtMalloc", CallKind::kAllocate},
    {"Free", CallKind::kAllocate},
    {"HostAlloc", CallKind::kAllocate},
    {"HostMalloc", CallKind::kAllocate},
    {"HostFree", CallKind::kAllocate},
    {"HostRegister", CallKind::kAllocate},
    {"HostUnregister", CallKind::kAllocate},
    {"MemAlloc", CallKind::kAllocate},
    {"MemFree", CallKind::kAllocate},
    {"MemHostAlloc", CallKind::kAllocate},
    {"MemCreate", CallKind::kAllocate},
    {"MemMap", CallKind::kAllocate},
    {"MemUnmap", CallKind::kAllocate},
    {"MemRelease", CallKind::kAllocate},
    {"MemSetAccess", CallKind::kAllocate},
    {"MemAddress", CallKind::kAllocate},
    {"MemPool", CallKind::kAllocate},
    {"ModuleLoad", CallKind::kLoad},
    {"ModuleGetLoadingMode", CallKind::kOther},
    {"LibraryLoad", CallKind::kLoad},
    {"LinkCreate", CallKind::kLoad},
    {"LinkAdd", CallKind::kLoad},
    {"LinkComplete", CallKind::kLoad},
    {"Init", CallKind::kLookUp},
    {"SetDevice", CallKind::kLookUp},
    {"DevicePrimaryCtx", CallKind::kLookUp},
    {"CtxCreate", CallKind::kLookUp},
    {"DeviceReset", CallKind::kLookUp},
    {"ModuleGet", CallKind::kLookUp},
    {"ModuleUnload", CallKind::kLookUp},
    {"LibraryGet", CallKind::kLookUp},
    {"LibraryUnload", CallKind::kLookUp},
    {"KernelGet", CallKind::kLookUp},
    {"FuncGet", CallKind::kLookUp},
    {"FuncSet", CallKind::kLookUp},
    {"KernelSet", CallKind::kLookUp},
    {"FunctionSet", CallKind::kLookUp},
    {"OccupancyMax", CallKind::kLookUp},
    {"GraphExecUpdate", CallKind::kLookUp},
    {"GraphUpload", CallKind::kLookUp},
    {"IpcOpenMemHandle", CallKind::kAllocate},
    {"IpcCloseMemHandle", CallKind::kAllocate},
};

constexpr std::array<std::string_view, 4> kMakers = {"cuda", "hip", "cu", "hsa"};

}  // namespace

CallKind call_kind(std::string_view name) {
  for (const std::string_view maker : kMakers) {
    if (!name.starts_with(maker)) continue;
    name.remove_prefix(maker.size());
    break;
  }
  if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
    return name.find("Async") != std::string_view::npos ? CallKind::kLaunchCopy : CallKind::kCopy;
  }
  for (const Rule& rule : kRules) {
    if (name.starts_with(rule.part)) return rule.kind;
  }
  return CallKind::kOther;
}

}  // namespace deepgap::trace
