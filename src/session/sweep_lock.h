// One living process runs a sweep: a lock on a small file beside the store, named by the sweep.
//
//   deepgap.db.3f2a90c16b0d11aa.lock        pid 4711 on lab-7, since 2026-11-30T12:03:04Z
//
// The lock (flock) ends with the process that holds it, however that ends; its file may then be left, which
// hinders nobody and goes with the next lock on the same store. The store itself is never opened for this:
// closing any descriptor of it would drop SQLite's own locks.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"

namespace deepgap::session {

class SweepLock {
 public:
  // Absent: a living process has the lock; `holder` is then the line that it left. Errors (bad input): the
  // file cannot be made. Where the file system knows no locks, nobody is kept out.
  static Result<std::optional<SweepLock>> acquire(const std::string& database, const SweepId& sweep,
                                                  Clock& clock, std::string& holder);

  SweepLock(SweepLock&& other) noexcept;
  SweepLock& operator=(SweepLock&& other) noexcept;
  ~SweepLock();  // gives it up and removes the file

  const std::string& path() const { return path_; }

 private:
  SweepLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace deepgap::session
