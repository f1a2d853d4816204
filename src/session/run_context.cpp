#include "session/run_context.h"

#include <algorithm>

#include "hw/machine.h"

namespace deepgap::session {
namespace {

Setting found(std::string_view name, std::string value) {
  return {.name = std::string(name), .effective = std::move(value)};
}

// Of two vector units as wide as the machine lists them, each a multiply-add a cycle
// (hw/microarchitecture.cpp says which cores have so many).
double fp32_per_cycle(const hw::CpuInfo& cpu) {
  constexpr int kUnits = 2;
  constexpr int kOperations = 2;
  const int bits = cpu.has("avx512f") ? 512 : cpu.has("avx2") ? 256 : 128;
  return kUnits * kOperations * bits / 32.0;
}

}  // namespace

double sustained_rate(const hw::CpuInfo& cpu) {
  constexpr double kShareOfCeiling = 0.5;
  // Where a virtual machine hides clock or model. A convolution network on two cores with AVX-512 took 31 ms
  // for 8.2 GFLOP (resnet50, OpenVINO 2026.4): 130 GFLOP/s a core; this guesses 96.
  constexpr double kUsualHertz = 2.5e9;
  constexpr double kUsualShare = 0.6;
  const Device device = hw::to_device(cpu);
  double ceiling = 0;
  for (const Ceiling& each : device.ceilings) {
    if (each.quantity == "flops.fp32.vector") ceiling = std::max(ceiling, each.value);
  }
  if (ceiling > 0) return ceiling * kShareOfCeiling;
  const int cores = std::max(1, std::min(cpu.usable_cpus, cpu.physical_cores.value_or(cpu.usable_cpus)));
  return kUsualHertz * kUsualShare * cores * fp32_per_cycle(cpu);
}

RunContext describe_context(const std::map<std::string, run::EngineDescription>& engines,
                            const hw::CpuInfo& cpu, const Environment& environment) {
  RunContext context;
  const hw::MachineInfo machine = hw::describe_machine(*environment.files, hw::read_uname(), cpu);
  context.devices.emplace("cpu", hw::to_device(cpu));
  for (const auto& [engine, description] : engines) {
    context.engine_versions[engine] = description.version;
    for (const Device& device : description.devices) context.devices.try_emplace(device.address, device);
  }
  const auto number = [](std::optional<int> value) { return value ? std::to_string(*value) : std::string(); };
  context.settings = {found(settings::kDeepgapVersion, std::string(version())),
                      found(settings::kHostName, machine.hostname),
                      found(settings::kHostOs, machine.os),
                      found(settings::kHostKernel, machine.kernel),
                      found(settings::kHostArchitecture, machine.arch),
                      found(settings::kHostCpuModel, machine.cpu_model),
                      found(settings::kHostCpuSockets, number(machine.cpu_sockets)),
                      found(settings::kHostCpuCoresPerSocket, number(machine.cpu_cores_per_socket)),
                      found(settings::kHostCpuThreadsPerCore, number(machine.cpu_threads_per_core)),
                      found(settings::kHostCpuLogicalCpus, std::to_string(machine.cpu_logical_cpus))};
  if (machine.mem_total_mb)
    context.settings.push_back(found(settings::kHostMemTotalMb, std::to_string(*machine.mem_total_mb)));
  if (cpu.clocks.governor) context.settings.push_back(found(settings::kGovernor, *cpu.clocks.governor));
  std::erase_if(context.settings,
                [](const Setting& setting) { return setting.effective && setting.effective->empty(); });
  return context;
}

}  // namespace deepgap::session
