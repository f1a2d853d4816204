// The table of patterns of kernel names, data/kernel_names/, which is compiled in. The head of vendors.toml
// there says what a pattern is.
//
//   const KernelPattern* pattern = first_match(kernel_table(), take_apart(name));
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/precision.h"
#include "ops/kernel_name.h"
#include "ops/kernel_text.h"

namespace deepgap::ops {

// Which grammar reads what the pattern does not fix; kernel_grammar.h.
enum class KernelGrammar { kTypes, kWords, kXmma, kBlas, kCutlass, kNvjet, kTensile, kTriton, kNone };

enum class NamePart { kName, kNameStarts, kNameHas, kScope, kText };

struct KernelCondition {
  NamePart part;
  // One of these must fit; of one, all parts, and where it must begin the text, the first part does.
  std::vector<std::vector<std::string>> alternatives;
};

struct KernelPattern {
  std::vector<KernelCondition> conditions;  // all must hold
  KernelFamily family = KernelFamily::kUnknown;
  std::string library;
  std::string origin;
  std::optional<Precision> precision;
  std::optional<Precision> accumulation;
  bool tensor_cores = false;
  KernelGrammar grammar = KernelGrammar::kTypes;
  int element = 0;     // which template argument is the element's type, from 1; 0: the first type
  int accumulate = 0;  // which is the accumulator's; 0: none
  std::string place;   // "vendors.toml line 12"
};

struct KernelNamesFile {
  std::string_view name;
  std::string_view text;
};

// The subset of TOML that the table is written in: [[library]], key = "text", patterns = [ {...}, ... ]. The
// patterns of all files in their order.
Result<std::vector<KernelPattern>> read_kernel_table(std::span<const KernelNamesFile> files);
// The files as they were when this was built.
std::span<const KernelNamesFile> kernel_names_files();
// The table, read once; threads may share it.
std::span<const KernelPattern> kernel_table();
// The first pattern that fits; null where none does.
const KernelPattern* first_match(std::span<const KernelPattern> table, const KernelText& name);

}  // namespace deepgap::ops
