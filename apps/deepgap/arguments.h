// What the user typed for one verb, by the names of its table, with typed access whose errors name the
// option.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap::app {

class Arguments {
 public:
  void set(std::string name, std::vector<std::string> values) {
    values_[std::move(name)] = std::move(values);
  }

  // `name` as in the table, without its short form: "--batch", "MODEL".
  bool has(std::string_view name) const;
  // The last value given, or nothing.
  std::optional<std::string> text(std::string_view name) const;
  // All values given, each as typed.
  std::vector<std::string> texts(std::string_view name) const;
  // Values separated by commas, over all times the option was given; an empty element is an error.
  Result<std::vector<std::string>> list(std::string_view name) const;
  // A whole number of at least `least`.
  Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least) const;
  // "500ms", "6s": more than zero.
  Result<std::optional<Nanoseconds>> duration(std::string_view name) const;
  // "1%" or "0.01": more than 0 and less than 1.
  Result<std::optional<double>> share(std::string_view name) const;
  // Whole numbers separated by commas, each at least `least`.
  Result<std::vector<std::int64_t>> integers(std::string_view name, std::int64_t least) const;
  // "name=value" pairs; a name given twice is an error. Split at the first "=", or at the last where names
  // may hold one and values never do: a model's dimension may be called "a=b".
  enum class SplitAt { kFirst, kLast };
  Result<std::map<std::string, std::string>> pairs(std::string_view name,
                                                   SplitAt place = SplitAt::kFirst) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// A whole number in decimal, or an error that says what was expected: "--batch: expected a whole number ...".
Result<std::int64_t> parse_integer(std::string_view text, std::string_view what, std::int64_t least);

}  // namespace deepgap::app
