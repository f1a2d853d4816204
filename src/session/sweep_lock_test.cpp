#include "session/sweep_lock.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"

namespace deepgap::session {
namespace {

using ::testing::HasSubstr;

const SweepId kSweep("3f2a90c16b0d11aa");

class SweepLockTest : public ::testing::Test {
 protected:
  std::optional<SweepLock> acquire(const SweepId& sweep = kSweep) {
    Result<std::optional<SweepLock>> lock = SweepLock::acquire(folder_ / "x.db", sweep, clock_, holder_);
    EXPECT_TRUE(lock.ok()) << lock.error().message();
    return lock.ok() ? std::move(*lock) : std::optional<SweepLock>();
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  TemporaryFolder folder_;
  FakeClock clock_{{}, std::chrono::seconds(1796040184)};
  std::string holder_;
};

TEST_F(SweepLockTest, OneHoldsItAndLeavesNothing) {
  {
    const std::optional<SweepLock> first = acquire();
    ASSERT_TRUE(first.has_value());
    EXPECT_FALSE(acquire().has_value());
    EXPECT_THAT(holder_, HasSubstr("pid " + std::to_string(getpid())));
    EXPECT_THAT(holder_, HasSubstr("since 2026-11-30T12:03:04Z"));
    EXPECT_TRUE(acquire(SweepId("00000000000000ff")).has_value());  // another sweep of the same store
  }
  EXPECT_EQ(files(), 0u);
  EXPECT_TRUE(acquire().has_value());
}

TEST_F(SweepLockTest, AMovedLockIsHeldOnce) {
  std::optional<SweepLock> lock = acquire();
  ASSERT_TRUE(lock.has_value());
  std::optional<SweepLock> other(std::move(*lock));
  lock.reset();
  EXPECT_FALSE(acquire().has_value());
  other.reset();
  EXPECT_TRUE(acquire().has_value());
}

// The process that holds it is killed as it stands: the next one takes over, and what is left goes.
TEST_F(SweepLockTest, AKilledProcessHoldsNothing) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Result<std::optional<SweepLock>> lock =
        SweepLock::acquire(folder_ / "x.db", kSweep, clock_, holder_);
    const char answer = lock.ok() && lock->has_value() ? 'y' : 'n';
    if (write(ready[1], &answer, 1) == 1) pause();
    _exit(0);
  }
  char answer = ' ';
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(acquire().has_value());
  EXPECT_THAT(holder_, HasSubstr("pid " + std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(files(), 1u);  // of the killed one
  {
    const std::optional<SweepLock> other = acquire(SweepId("00000000000000ff"));
    EXPECT_EQ(files(), 1u);  // only its own: the leftover is gone
    EXPECT_TRUE(acquire().has_value());
  }
  EXPECT_EQ(files(), 0u);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(SweepLockTest, OtherFilesBesideTheStoreStay) {
  for (const char* name : {"x.db.notes.lock", "x.db.lock", "y.db.3f2a90c16b0d11aa.lock"})
    std::ofstream(folder_ / name) << "of the user";
  acquire();
  EXPECT_EQ(files(), 3u);
}

TEST_F(SweepLockTest, AFolderThatIsNotThereIsSaid) {
  const Result<std::optional<SweepLock>> lock =
      SweepLock::acquire(folder_ / "no/such/x.db", kSweep, clock_, holder_);
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().kind(), ErrorKind::kBadInput);
  EXPECT_THAT(lock.error().message(), HasSubstr("no/such/x.db"));
}

}  // namespace
}  // namespace deepgap::session
