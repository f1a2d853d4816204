// Content hashes, to see whether two files, models or inputs are the same bytes, and random ids.
//
//   content_hash("") -> "99aa06d3014798d86001c324468d497f"
//   new_random_hex(16) -> "5f0c2ab19d3e7784"
//
// The hash is 128-bit XXH3 (xxhash.com), seed 0, written as `xxhsum -H2` writes it. It finds accidental
// differences; it is no protection against someone who makes two contents alike on purpose.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace deepgap {

// 32 lower-case hexadecimal digits.
std::string content_hash(std::string_view bytes);

// The same hash of bytes that come in pieces.
class Hasher {
 public:
  Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  ~Hasher();

  void add(std::string_view bytes);
  // Of all bytes added so far; more may follow.
  std::string digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `digits` hexadecimal digits from the system's random source, for ids that must differ between machines and
// runs.
std::string new_random_hex(int digits);

}  // namespace deepgap
