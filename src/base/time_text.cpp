#include "base/time_text.h"

#include <chrono>

namespace deepgap {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes a text apart from its front.
class Text {
 public:
  explicit Text(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_any(std::string_view of) {
    return !rest_.empty() && of.find(rest_.front()) != std::string_view::npos && take(rest_.front());
  }
  // A number of exactly `digits` digits.
  std::optional<int> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(rest_[i])) return std::nullopt;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  std::size_t digits() const {
    std::size_t count = 0;
    while (count < rest_.size() && is_digit(rest_[count])) ++count;
    return count;
  }
  // ".195" or ",195" as nanoseconds; what is finer is cut off. 0 where there is none.
  std::optional<std::int64_t> fraction() {
    if (!take_any(".,")) return 0;
    if (digits() == 0) return std::nullopt;
    std::int64_t value = 0;
    std::int64_t unit = kSecond / 10;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) {
      value += unit * (rest_.front() - '0');
      unit /= 10;
    }
    return value;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

std::optional<std::int64_t> since_1970(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1970 || year > 2199) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * 86'400 * kSecond;
}

std::optional<std::int64_t> date_of(Text& text) {
  const auto year = text.number(4);
  const char separator = text.rest().empty() ? ' ' : text.rest().front();
  const bool separated = separator == '-' || separator == '/';
  if (separated) text.take(separator);
  const auto month = text.number(2);
  if (separated && !text.take(separator)) return std::nullopt;
  const auto day = text.number(2);
  if (!year || !month || !day) return std::nullopt;
  return since_1970(*year, *month, *day);
}

std::optional<std::int64_t> clock_of(Text& text) {
  const auto hour = text.number(2);
  if (!text.take(':')) return std::nullopt;
  const auto minute = text.number(2);
  if (!text.take(':')) return std::nullopt;
  const auto second = text.number(2);
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto fraction = text.fraction();
  if (!fraction) return std::nullopt;
  return (std::int64_t{*hour} * 3600 + std::int64_t{*minute} * 60 + *second) * kSecond + *fraction;
}

// Seconds since 1970, told from finer units by how many digits a time of our days has.
std::optional<std::int64_t> epoch_of(Text text) {
  const std::size_t digits = text.digits();
  if (digits < 9 || digits > 19) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text.rest().substr(0, digits)) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
      return std::nullopt;
  }
  text = Text(text.rest().substr(digits));
  std::int64_t unit = kSecond;
  if (digits >= 18) {
    unit = 1;
  } else if (digits >= 15) {
    unit = 1000;
  } else if (digits >= 12) {
    unit = 1'000'000;
  }
  const auto fraction = text.fraction();
  if (!fraction || !text.empty()) return std::nullopt;
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(value, unit, &ns)) return std::nullopt;
  ns += *fraction / (kSecond / unit);
  if (ns >= *since_1970(2199, 12, 31)) return std::nullopt;
  return ns;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view written, std::int64_t utc_offset_ns) {
  Text text(written);
  if (text.digits() != 4 && text.digits() != 8) return epoch_of(text);
  const auto date = date_of(text);
  if (!date || !text.take_any("T ")) return std::nullopt;
  const auto clock = clock_of(text);
  if (!clock) return std::nullopt;
  text.take(' ');
  if (!text.empty()) {
    const auto zone = parse_utc_offset(text.rest() == "UTC" ? "Z" : text.rest());
    if (!zone) return std::nullopt;
    utc_offset_ns = *zone;
  }
  return *date + *clock - utc_offset_ns;
}

std::optional<std::int64_t> parse_utc_offset(std::string_view written) {
  if (written == "Z") return 0;
  Text text(written);
  const bool negative = text.take('-');
  if (!negative) text.take('+');
  const std::size_t digits = text.digits();
  const auto hours = text.number(digits == 1 ? 1 : 2);
  if (!hours) return std::nullopt;
  int minutes = 0;
  if (!text.empty()) {
    text.take(':');
    const auto number = text.number(2);
    if (!number || !text.empty()) return std::nullopt;
    minutes = *number;
  }
  if (*hours > 15 || minutes > 59 || *hours * 60 + minutes > 15 * 60) return std::nullopt;
  const std::int64_t ns = (std::int64_t{*hours} * 60 + minutes) * 60 * kSecond;
  return negative ? -ns : ns;
}

}  // namespace deepgap
