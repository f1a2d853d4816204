#include "ops/einsum.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/text.h"

namespace deepgap::ops {
namespace {

// Labels are letters; dimension i (from the right) under an ellipsis is the label '\x01' + i.
constexpr std::size_t kMostEllipsisDims = 20;
constexpr char kFirstEllipsisLabel = '\x01';

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The labels of one term for an operand of `rank` dimensions.
std::optional<std::string> labels_of(std::string_view term, std::size_t rank) {
  const auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), is_letter));
  std::string labels;
  bool ellipsis = false;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      labels += term[i];
    } else if (term.substr(i, 3) == "..." && !ellipsis) {
      if (letters > rank || rank - letters > kMostEllipsisDims) return std::nullopt;
      ellipsis = true;
      i += 2;
      for (std::size_t dim = rank - letters; dim > 0; --dim) {
        labels += static_cast<char>(kFirstEllipsisLabel + static_cast<char>(dim - 1));
      }
    } else {
      return std::nullopt;
    }
  }
  return labels.size() == rank ? std::optional(labels) : std::nullopt;
}

using Sizes = std::map<char, std::int64_t>;

bool add_sizes(Sizes& sizes, const std::string& labels, const Shape& dims) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto [place, added] = sizes.emplace(labels[i], dims[i]);
    if (added || place->second == dims[i] || dims[i] == 1) continue;
    if (place->second != 1) return false;
    place->second = dims[i];  // broadcast
  }
  return true;
}

Count combinations(const std::set<char>& labels, const Sizes& sizes) {
  std::vector<std::int64_t> factors;
  for (const char label : labels) factors.push_back(sizes.at(label));
  return product(factors);
}

std::set<char> as_set(const std::string& labels) {
  return {labels.begin(), labels.end()};
}

std::string implicit_output(const std::vector<std::string>& terms) {
  std::map<char, int> uses;
  std::string output;
  for (const std::string& term : terms) {
    for (const char label : term) ++uses[label];
  }
  for (const auto& [label, count] : uses) {
    if (!is_letter(label))
      output.insert(output.begin(), label);  // ascending labels: the rightmost dimension first
    if (is_letter(label) && count == 1) output += label;
  }
  return output;
}

}  // namespace

std::optional<Einsum> analyse_einsum(std::string_view equation, std::span<const TensorShape> operands) {
  std::string text(equation);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> inputs = split(text.substr(0, arrow), ',');
  if (operands.empty() || inputs.size() != operands.size()) return std::nullopt;

  Sizes sizes;
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!operands[i].dims) return std::nullopt;
    const std::optional<std::string> labels = labels_of(inputs[i], operands[i].dims->size());
    if (!labels || !add_sizes(sizes, *labels, *operands[i].dims)) return std::nullopt;
    terms.push_back(*labels);
  }

  std::string output;
  if (arrow == std::string::npos) {
    output = implicit_output(terms);
  } else {
    const std::string_view term = std::string_view(text).substr(arrow + 2);
    const auto hidden = static_cast<std::size_t>(
        std::count_if(sizes.begin(), sizes.end(), [](const auto& entry) { return !is_letter(entry.first); }));
    const auto letters = static_cast<std::size_t>(std::count_if(term.begin(), term.end(), is_letter));
    const std::optional<std::string> labels =
        labels_of(term, letters + (term.find("...") == std::string_view::npos ? 0 : hidden));
    if (!labels) return std::nullopt;
    output = *labels;
  }

  Einsum result;
  for (const char label : output) {
    const auto size = sizes.find(label);
    if (size == sizes.end()) return std::nullopt;
    result.output.push_back(size->second);
  }

  // Labels that are still needed after operand i was taken.
  const std::set<char> kept = as_set(output);
  const auto needed_after = [&](std::size_t i) {
    std::set<char> needed = kept;
    for (std::size_t later = i + 1; later < terms.size(); ++later)
      needed.insert(terms[later].begin(), terms[later].end());
    return needed;
  };
  std::set<char> current = as_set(terms[0]);
  result.flops = 0;
  if (terms.size() == 1) {
    const bool sums =
        std::any_of(current.begin(), current.end(), [&](char label) { return !kept.contains(label); });
    if (sums) result.flops = combinations(current, sizes);
    return result;
  }
  for (std::size_t i = 1; i < terms.size(); ++i) {
    current.insert(terms[i].begin(), terms[i].end());
    const std::set<char> needed = needed_after(i);
    std::set<char> left;
    std::set_intersection(current.begin(), current.end(), needed.begin(), needed.end(),
                          std::inserter(left, left.end()));
    const bool sums = left.size() < current.size();
    result.contracts = result.contracts || sums;
    result.flops = sum({result.flops, product({combinations(current, sizes), Count{sums ? 2 : 1}})});
    current = std::move(left);
  }
  return result;
}

}  // namespace deepgap::ops
