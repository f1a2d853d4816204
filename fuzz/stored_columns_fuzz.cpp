// The input: which kind of column, how many numbers are expected of it, its bytes.
#include "store/encoding.h"
#include "store/json_columns.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

template <typename T, typename Read, typename Write>
void comes_back(std::string_view text, Read read, Write write) {
  const Result<T> value = read(text);
  if (!checked(value)) return;
  const Result<T> again = read(write(*value));
  require(again.ok() && *again == *value, "a column that was read can be written and read");
}

void survive(std::string_view input) {
  Reader bytes(input);
  const std::size_t kind = bytes.number(1) % 5;
  const std::size_t count = bytes.number(2);
  const std::string_view rest = bytes.rest();
  const auto blob = std::as_bytes(std::span(rest));
  const auto held = store::encoded_count(blob);
  if (kind == 0) {
    std::vector<std::int64_t> values;
    if (checked(store::decode_integers(blob, count, values))) {
      require(values.size() == count && held.ok() && *held == count, "as many integers as were asked for");
      const std::string encoded = store::encode_integers(values);
      std::vector<std::int64_t> again;
      require(store::decode_integers(std::as_bytes(std::span(encoded)), count, again).ok() && again == values,
              "integers come back");
    }
  } else if (kind == 1) {
    std::vector<double> values;
    if (checked(store::decode_reals(blob, count, values))) {
      require(values.size() == count && held.ok() && *held == count, "as many reals as were asked for");
      const std::string encoded = store::encode_reals(values);
      std::vector<double> again;
      require(store::decode_reals(std::as_bytes(std::span(encoded)), count, again).ok(), "reals come back");
    }
  } else if (kind == 2) {
    comes_back<std::map<std::string, std::int64_t>>(rest, store::dims_from_json, store::dims_to_json);
  } else if (kind == 3) {
    comes_back<std::vector<std::string>>(rest, store::texts_from_json, store::texts_to_json);
  } else {
    comes_back<std::vector<std::vector<std::int64_t>>>(rest, store::shapes_from_json, store::shapes_to_json);
  }
}

std::vector<Seed> seeds() {
  const auto column = [](std::size_t kind, std::size_t count, const std::string& bytes) {
    return bytes_of(kind, 1) + bytes_of(count, 2) + bytes;
  };
  const std::vector<std::int64_t> small{1, 2, 3}, large{-5, std::int64_t{1} << 60},
      steps{1'000'000'000'000, 1'000'000'000'007};
  const std::vector<double> singles{1.5, 2.5}, doubles{0.1, 1e300};
  return {{"small", column(0, 3, store::encode_integers(small))},
          {"large", column(0, 2, store::encode_integers(large))},
          {"steps", column(0, 2, store::encode_integers(steps))},
          {"singles", column(1, 2, store::encode_reals(singles))},
          {"doubles", column(1, 2, store::encode_reals(doubles))},
          {"dims", column(2, 0, R"({"seq":128,"frames":47})")},
          {"dims_real", column(2, 0, R"({"seq":1e30,"x":-1e30,"y":18446744073709551615})")},
          {"texts", column(3, 0, R"(["a","\u00e9","b"])")},
          {"shapes", column(4, 0, R"([[1,3,224,224],[],[-1]])")},
          {"nested", column(4, 0, std::string(3000, '[') + std::string(3000, ']'))}};
}

}  // namespace

const Target kStoredColumns{"stored_columns", "columns of numbers and of JSON in a store", survive, seeds};

}  // namespace deepgap::fuzz
