#include "base/hash.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "base/random.h"

// Compiled in, so that no shared library is needed where the program runs.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deepgap {
namespace {

std::string as_hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t random_word() {
  std::uint64_t word = 0;
  // Reads of up to 256 bytes are whole once the kernel's pool is filled; before that it waits, and may be
  // interrupted.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (getrandom(&word, sizeof word, 0) == sizeof word) return word;
  }
  // A sandbox that forbids getrandom: ids have to differ, not to be secret.
  static std::uint64_t calls = 0;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto seconds = static_cast<std::uint64_t>(now.tv_sec);
  const auto nanoseconds = static_cast<std::uint64_t>(now.tv_nsec);
  return Random(seconds * 1'000'000'000 + nanoseconds)
      .fork(static_cast<std::uint64_t>(getpid()))
      .fork(__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED))
      .next();
}

}  // namespace

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;
Hasher::~Hasher() = default;

void Hasher::add(std::string_view bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::string Hasher::digest() const {
  return as_hex(XXH3_128bits_digest(&state_->xxh));
}

std::string content_hash(std::string_view bytes) {
  return as_hex(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string new_random_hex(int digits) {
  std::string hex;
  while (static_cast<int>(hex.size()) < digits) hex += fmt::format("{:016x}", random_word());
  hex.resize(static_cast<std::size_t>(digits < 0 ? 0 : digits));
  return hex;
}

}  // namespace deepgap
