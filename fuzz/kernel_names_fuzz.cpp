#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/kernel_mangled.h"
#include "ops/kernel_name.h"
#include "ops/kernel_table.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

// The first byte says whose bytes they are: of a kernel's name, or of the table of patterns.
void run(std::string_view input) {
  Reader reader(input);
  const std::size_t what = reader.number(1);
  const std::string_view text = reader.rest();
  if (what % 4 == 0) {
    const ops::KernelNamesFile file{"input", text};
    (void)checked(ops::read_kernel_table({&file, 1}));
    return;
  }
  const ops::KernelName known = ops::parse_kernel_name(text);
  require(ops::parse_kernel_name(text) == known, "a name says the same each time");
  require(known.tile.value_or(std::array<std::int32_t, 3>{1, 1, 0})[0] > 0, "a tile has rows");
  if (ops::is_mangled(text)) {
    require(ops::spell_out(text).size() <= 32 * text.size(), "what is spelled out grows with the name");
  }
}

std::vector<Seed> seeds() {
  std::vector<Seed> seeds{
      {"table", std::string(1, '\0') + std::string(ops::kernel_names_files()[0].text.substr(0, 4000))}};
  const std::string file = source_file("src/ops/testdata/kernel_names.expect");
  std::size_t line_at = 0;
  int number = 0;
  while (line_at < file.size()) {
    const std::size_t end = std::min(file.find('\n', line_at), file.size());
    const std::string line = file.substr(line_at, end - line_at);
    if (!line.starts_with("#") && !line.starts_with(" ")) {
      seeds.push_back({"name_" + std::to_string(++number), "\x01" + line});
    }
    line_at = end + 1;
  }
  for (const char* const mangled :
       {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZNS0_3invERKNS_6TensorEdENKUlvE_"
        "clEvEUlN3c104HalfEE_"
        "St5arrayIPcLm2EEEEviT0_T1_",
        "_ZN12_GLOBAL__N_120softmax_warp_forwardIN3c108BFloat16EffLi7ELb0ELb0EEEvPT0_PKT_iiiPKbib"}) {
    seeds.push_back({"mangled_" + std::to_string(++number), std::string("\x01") + mangled});
  }
  return seeds;
}

}  // namespace

const Target kKernelNames{"kernel_names", "names of device kernels, the table of their patterns", run, seeds};

}  // namespace deepgap::fuzz
