#include "ops/kernel_grammar.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "base/text.h"
#include "ops/kernel_types.h"

namespace deepgap::ops {
namespace {

using Words = std::vector<std::string_view>;
using P = Precision;

bool any_word(const Words& words, std::initializer_list<std::string_view> parts) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return has(word, part); });
  });
}

// The accumulator that BLAS's letter stands for; integers have no Precision.
std::optional<Precision> of_letter(char letter) {
  switch (letter) {
    case 's':
    case 'c':
      return P::kFp32;
    case 'h':
      return P::kFp16;
    case 'd':
    case 'z':
      return P::kFp64;
    default:
      return std::nullopt;
  }
}

// "s16816gemm", "s1688tf32gemm", "scudnn", "d884gemm", "s64x128x16gemm", "gemm": what stands before the kind.
struct Core {
  char letter = '\0';
  std::string_view instruction;  // "16816"; "" without matrix units, or unsaid
  std::optional<Precision> factors;
};

std::optional<Core> parse_core(std::string_view word) {
  constexpr std::array<std::string_view, 7> kKinds{"gemm",  "cudnn",  "fprop", "dgrad",
                                                   "wgrad", "deconv", "symm"};
  for (const std::string_view kind : kKinds) {
    if (!word.ends_with(kind)) continue;
    std::string_view rest = word.substr(0, word.size() - kind.size());
    Core core;
    if (rest.starts_with("gc") || rest.starts_with("gz"))
      rest.remove_prefix(1);  // Gauss: three products of four
    if (!rest.empty() && !is_digit(rest.front())) {
      core.letter = rest.front();
      rest.remove_prefix(1);
    }
    std::size_t digits = 0;
    while (digits < rest.size() && (is_digit(rest[digits]) || rest[digits] == 'x')) ++digits;
    core.instruction = rest.substr(0, digits);
    rest.remove_prefix(digits);
    if (const std::optional<ElementType> type = parse_type_word(rest)) {
      core.factors = type->precision;
    } else if (!rest.empty() && rest != "fastaccum") {
      return std::nullopt;
    }
    constexpr std::string_view kLetters = "shdczi";
    if (core.letter != '\0' && !has(kLetters, std::string_view(&core.letter, 1))) return std::nullopt;
    return core;
  }
  return std::nullopt;
}

// What matrix units multiply where only their instruction's shape is said. 16x8x8 takes float data as TF32
// from Ampere on; before, that shape and 8x8x4 are half's. Names that CUTLASS itself gives, without an
// architecture, mean by it the three TF32 products that make up one of FP32 (examples/27 there); those that
// ship in cuBLAS, cutlass_80_..., do not: they run where TF32 is allowed and never where it is not.
std::optional<Precision> of_instruction(const Core& core, std::string_view architecture) {
  const bool before_ampere = architecture == "sm70" || architecture == "sm72" || architecture == "sm75";
  if (core.letter == 'd' || core.letter == 'z') return P::kFp64;
  if (core.letter == 'i') return P::kInt8;
  if (core.letter == 'h') return P::kFp16;
  if (core.instruction == "884") return P::kFp16;
  if (core.instruction == "1688") {
    return before_ampere ? P::kFp16 : architecture.empty() ? P::kFp32 : P::kTf32;
  }
  return std::nullopt;
}

// "fp16", "fp16x2", "int8x4": a type and how many of it go in one register.
std::optional<Precision> storage_word(std::string_view word) {
  if (word.size() > 2 && word[word.size() - 2] == 'x' && is_digit(word.back())) word.remove_suffix(2);
  const std::optional<ElementType> type = parse_type_word(word);
  return type ? type->precision : std::nullopt;
}

KernelArithmetic read_words(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "double" && i + 1 < words.size() && words[i + 1] == "buffer") continue;
    std::optional<Precision> type = storage_word(word);
    if (!type && word.size() > 4) type = storage_word(word.substr(0, 4));  // FP16FP32NHWC
    if (type) return {type, {}, false};
  }
  return {};
}

KernelArithmetic read_xmma(const Words& words) {
  KernelArithmetic read;
  read.tensor_cores = any_word(words, {"warpgroupsize", "hmma", "imma", "gmma", "qmma"}) ||
                      std::any_of(words.begin(), words.end(), [](std::string_view word) {
                        return word.starts_with("tensor") && word.size() > 6 && is_digit(word[6]);
                      });
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::vector<ElementType> memory = parse_type_run(words[i]);
    if (memory.size() != 2) continue;
    const std::vector<ElementType> units = parse_type_run(words[i + 1]);
    if (units.size() == 2) {
      read.precision = units[0].precision;
      read.accumulation = units[1].precision;
    } else if (units.size() == 1) {
      read.precision = memory[0].precision;
      read.accumulation = units[0].precision;
    }
    break;
  }
  return read;
}

KernelArithmetic read_blas(const Words& words, std::string_view architecture) {
  KernelArithmetic read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::optional<Core> core = parse_core(words[i]);
    if (!core || core->letter == '\0') continue;
    read.tensor_cores = !core->instruction.empty();
    read.accumulation = of_letter(core->letter);
    if (!read.tensor_cores) {
      // Half in memory, float in the multiply-adds: that is what the letter says.
      read.precision = core->letter == 'i' ? P::kInt8 : of_letter(core->letter);
      return read;
    }
    if (i + 1 < words.size()) read.precision = storage_word(words[i + 1]);
    if (!read.precision && i > 0) read.precision = storage_word(words[i - 1]);
    if (!read.precision) read.precision = of_instruction(*core, architecture);
    return read;
  }
  read.tensor_cores = any_word(words, {"hmma", "imma"});
  for (const std::string_view word : words) {  // first_layer_hmma_fprop_f16f16f32
    const std::vector<ElementType> run = parse_type_run(word);
    if (run.size() < 3) continue;
    read.precision = run[0].precision;
    read.accumulation = run[2].precision;
    break;
  }
  return read;
}

KernelArithmetic read_cutlass(const Words& words, std::string_view architecture) {
  KernelArithmetic read;
  read.tensor_cores = any_word(words, {"tensorop"});
  const auto op = std::find_if(words.begin(), words.end(),
                               [](std::string_view word) { return word == "tensorop" || word == "simt"; });
  for (auto word = op; word != words.end(); ++word) {
    const std::optional<Core> core = parse_core(*word);
    if (!core) continue;
    std::vector<ElementType> types;  // after the kind: of A, or of A, B, accumulator, C, D
    for (auto next = word + 1; next != words.end(); ++next) {
      if (const std::optional<ElementType> type = parse_type_word(*next)) {
        types.push_back(*type);
      } else if (!types.empty() || is_digit(next->front())) {
        break;
      }
    }
    read.accumulation = types.size() >= 3 ? types[2].precision : of_letter(core->letter);
    if (!read.tensor_cores) {
      read.precision = core->letter == 'i' ? P::kInt8 : of_letter(core->letter);
    } else if (core->factors) {
      read.precision = core->factors;
    } else if (!types.empty()) {
      read.precision = types[0].precision;
      if (read.precision == P::kFp32) read.precision = of_instruction(*core, architecture);
    } else {
      read.precision = of_instruction(*core, architecture);
    }
    break;
  }
  return read;
}

KernelArithmetic read_nvjet(const Words& words) {
  const auto letter = [](char c) -> std::optional<Precision> {
    switch (c) {
      case 'h':
        return P::kFp16;
      case 't':
        return P::kBf16;
      case 'q':
        return P::kFp8E4M3;
      case 'r':
        return P::kFp8E5M2;
      case 'b':
        return P::kInt8;
      default:
        return std::nullopt;  // 's' among the factors: FP32, or what stands in for it
    }
  };
  for (std::size_t i = 1; i < words.size() && i < 4; ++i) {
    const std::string_view word = words[i];
    if (word.starts_with("sm") || (word.size() != 3 && word.size() != 5)) continue;
    const char accumulator = word.size() == 3 ? word[1] : word[3];
    const bool tf32 = i + 1 < words.size() && words[i + 1] == "tf32";  // sss_tf32
    return {tf32 ? P::kTf32 : letter(word[0]),
            accumulator == 's' ? std::optional(P::kFp32) : letter(accumulator), true};
  }
  return {};
}

// The type letters after the indices: "HHS", "SB" (single, beta), "HBH" (half, beta, high precision
// accumulate), "B_BS", "S_MX_B" (TF32, which AMD calls XF32), "I8II", "F8B8S".
KernelArithmetic read_tensile(const Words& words) {
  KernelArithmetic read;
  std::size_t at = 0;
  while (at < words.size() && words[at] != "Cijk") ++at;
  ++at;
  while (at < words.size() && words[at].size() >= 4 && (words[at][0] == 'A' || words[at][0] == 'B') &&
         words[at].find_first_not_of("ABCijklmn") == std::string_view::npos) {
    ++at;
  }
  std::string letters;
  for (const std::size_t end = std::min(at + 3, words.size()); at < end; ++at) {
    if (words[at] == "Bias" || words[at] == "BIAS" || words[at].starts_with("MT") || words[at] == "GB" ||
        words[at] == "GG")
      break;
    letters += words[at];
    letters += '_';
  }
  struct Letter {
    std::string_view code;
    std::optional<Precision> precision;
  };
  static const std::array<Letter, 12> kLetters{{{"4xi8", P::kInt8},
                                                {"F8N", P::kFp8E4M3},
                                                {"B8N", P::kFp8E5M2},
                                                {"F8", P::kFp8E4M3},
                                                {"B8", P::kFp8E5M2},
                                                {"I8", P::kInt8},
                                                {"I", std::nullopt},
                                                {"S", P::kFp32},
                                                {"D", P::kFp64},
                                                {"H", P::kFp16},
                                                {"C", P::kFp32},
                                                {"Z", P::kFp64}}};
  std::string_view rest = letters;
  std::vector<std::optional<Precision>> types;
  while (!rest.empty() && types.size() < 3) {
    if (rest.front() == '_') {
      rest.remove_prefix(1);
      continue;
    }
    const auto* const found = std::find_if(kLetters.begin(), kLetters.end(), [&](const Letter& letter) {
      return rest.starts_with(letter.code);
    });
    // After the first type a B is beta, unless a type follows it: "BBS", "BSS", but "BBH", "HBH".
    const bool beta = rest.front() == 'B' && !types.empty() &&
                      (rest.size() < 2 || rest[1] == '_' || rest[1] == 'H' || rest[1] == 'I');
    if (beta || (found == kLetters.end() && rest.front() != 'B')) break;
    types.push_back(found == kLetters.end() ? P::kBf16 : found->precision);
    rest.remove_prefix(found == kLetters.end() ? 1 : found->code.size());
  }
  if (types.empty()) return read;
  read.precision = types[0];
  read.accumulation = types.size() == 3 ? types[2] : types[0];
  if (types.size() < 3 && rest.starts_with("BH")) read.accumulation = P::kFp32;
  if (has(letters, "_MX_")) read.precision = P::kTf32;
  read.tensor_cores = std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with("MI") && word.size() > 3 && is_digit(word[2]) && word[2] != '0' && has(word, "x");
  });
  return read;
}

// MMA atoms of CuTe: SM80_16x8x16_F32BF16BF16F32_TN, SM90_64x128x16_F32F16F16_SS; accumulator first.
void read_atoms(const Words& words, KernelArithmetic& read) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with("SM")) continue;
    const std::vector<ElementType> run =
        i + 2 < words.size() ? parse_type_run(words[i + 2]) : std::vector<ElementType>{};
    if (run.size() < 3) continue;
    read = {run[1].precision, run[0].precision, true};
    return;
  }
}

KernelArithmetic read_types(const KernelPattern& pattern, const KernelText& name, const Words& words) {
  KernelArithmetic read;
  const std::vector<std::string_view> arguments = split_arguments(name.arguments);
  const auto argument = [&](int number) -> std::optional<Precision> {
    if (number < 1 || static_cast<std::size_t>(number) > arguments.size()) return std::nullopt;
    return first_type(arguments[static_cast<std::size_t>(number) - 1]);
  };
  read.precision = pattern.element > 0 ? argument(pattern.element) : lambda_type(name.arguments);
  if (!read.precision && pattern.element == 0) read.precision = first_type(name.arguments);
  read.accumulation = argument(pattern.accumulate);
  if (name.arguments.empty()) {
    const KernelArithmetic said = read_words(words_of(name.name));
    read.precision = said.precision;
  }
  if (has(name.arguments, "WarpSpecialized") || has(name.arguments, "OpClassTensorOp"))
    read.tensor_cores = true;
  read_atoms(words, read);
  return read;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  Words words;
  const auto is_word = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

KernelArithmetic read_arithmetic(const KernelPattern& pattern, const KernelText& name, const Words& words,
                                 std::string_view architecture) {
  KernelArithmetic read;
  switch (pattern.grammar) {
    case KernelGrammar::kXmma:
      read = read_xmma(words);
      break;
    case KernelGrammar::kBlas:
      read = read_blas(words, architecture);
      break;
    case KernelGrammar::kCutlass:
      read = read_cutlass(words, architecture);
      break;
    case KernelGrammar::kNvjet:
      read = read_nvjet(words);
      break;
    case KernelGrammar::kTensile:
      read = read_tensile(words);
      break;
    case KernelGrammar::kWords:
      read = read_words(words);
      break;
    case KernelGrammar::kTypes:
      read = read_types(pattern, name, words);
      break;
    case KernelGrammar::kTriton:
    case KernelGrammar::kNone:
      break;
  }
  if (pattern.precision) read.precision = pattern.precision;
  if (pattern.accumulation) read.accumulation = pattern.accumulation;
  read.tensor_cores = read.tensor_cores || pattern.tensor_cores || read.precision == P::kTf32;
  return read;
}

}  // namespace deepgap::ops
