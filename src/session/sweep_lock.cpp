#include "session/sweep_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "hw/machine.h"

namespace deepgap::session {
namespace {

constexpr std::string_view kSuffix = ".lock";
constexpr std::size_t kIdLength = 16;  // hexadecimal digits
// Another run may hold a leftover for a moment to remove it.
constexpr int kTries = 3;
constexpr Nanoseconds kBetweenTries = std::chrono::milliseconds(20);

enum class Locking { kLocked, kHeld, kGone, kImpossible };

// The lock of an open file, and whether that is still the file at `path`: who gives a lock up removes it.
Locking try_lock(int descriptor, const std::string& path) {
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? Locking::kHeld : Locking::kImpossible;
  }
  struct stat opened {};
  struct stat named {};
  const bool same = fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
                    opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  return same ? Locking::kLocked : Locking::kGone;
}

std::string read_line(int descriptor) {
  std::array<char, 300> buffer{};
  const ssize_t size = pread(descriptor, buffer.data(), buffer.size(), 0);
  return printable(trim(std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)))));
}

// Files that killed processes left: whoever can lock one may remove it.
void remove_leftovers(const std::filesystem::path& store) {
  const std::string begin = store.filename().string() + ".";
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry(store.parent_path(), error); !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(kSuffix) ||
        name.size() != begin.size() + kIdLength + kSuffix.size())
      continue;
    const int descriptor = open(entry->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (try_lock(descriptor, entry->path()) == Locking::kLocked) unlink(entry->path().c_str());
    close(descriptor);
  }
}

}  // namespace

Result<std::optional<SweepLock>> SweepLock::acquire(const std::string& database, const SweepId& sweep,
                                                    Clock& clock, std::string& holder) {
  std::error_code error;
  std::filesystem::path store = std::filesystem::weakly_canonical(database, error);
  if (error) store = std::filesystem::path(database);
  const std::string path = fmt::format("{}.{}{}", store.string(), sweep.str(), kSuffix);
  for (int held = 0;;) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0) {
      return bad_input(
          fmt::format("cannot make {}, which tells others that this sweep is being run ({}): a "
                      "store needs a folder that can be written",
                      printable(path), std::system_category().message(errno)));
    }
    const Locking locking = try_lock(descriptor, path);
    if (locking == Locking::kGone) {  // its holder removed it between the two calls
      close(descriptor);
      continue;
    }
    if (locking == Locking::kHeld) {
      holder = read_line(descriptor);
      close(descriptor);
      if (++held < kTries) {
        clock.sleep(kBetweenTries);
        continue;
      }
      return std::optional<SweepLock>();
    }
    SweepLock lock(path, descriptor);
    const std::string line = fmt::format("pid {} on {}, since {}\n", getpid(), hw::read_uname().node,
                                         format_utc(clock.realtime()));
    // A line that cannot be written (a full disk) makes the lock no weaker.
    if (ftruncate(descriptor, 0) == 0) [[maybe_unused]]
      const ssize_t written = pwrite(descriptor, line.data(), line.size(), 0);
    remove_leftovers(store);
    return std::optional<SweepLock>(std::move(lock));
  }
}

SweepLock::SweepLock(SweepLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

SweepLock& SweepLock::operator=(SweepLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

SweepLock::~SweepLock() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());  // first, while nobody else can have the lock
  close(descriptor_);
}

}  // namespace deepgap::session
