#include "trace/early_returns.h"

#include <gtest/gtest.h>

#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

constexpr std::int64_t kRounding = 20'000;

// A kernel until 100, waited for until `until`.
EarlyReturns waited(const char* wait, std::int64_t until, std::uint32_t lane = 0) {
  TimelineBuilder builder;
  builder.launch(0, 5, 1).kernel("k", 50, 50, 1).call(wait, 10, until - 10, kNoId, lane);
  builder.launch(200, 5, 2).kernel("behind", 300, 50, 2);  // it waits for nothing behind it
  return early_returns(builder.build(), kRounding);
}

TEST(EarlyReturns, AWaitForTheDeviceEndsBehindItsWork) {
  EXPECT_EQ(waited("cudaDeviceSynchronize", 110).waits, 1);
  EXPECT_EQ(waited("cudaDeviceSynchronize", 110).count, 0);
  EXPECT_EQ(waited("cudaDeviceSynchronize", 81).count, 0) << "within the rounding";
  EXPECT_EQ(waited("cudaDeviceSynchronize", 60).count, 1);
  EXPECT_EQ(waited("cudaDeviceSynchronize", 60).most_ns, 40'000);
  EXPECT_EQ(waited("hipDeviceSynchronize", 60, 1).count, 1) << "for what any thread launched";
  EXPECT_EQ(waited("cudaStreamSynchronize", 60).waits, 0) << "it may be for another stream";
  EXPECT_EQ(waited("cudaGetDevice", 60).waits, 0);
}

TEST(EarlyReturns, AWaitForAStreamEndsBehindTheCopyBeforeIt) {
  TimelineBuilder builder;
  builder.call("cudaMemcpyAsync", 0, 5, 1).copy("Memcpy DtoH (Device -> Pageable)", 50, 50, 1);
  builder.call("cudaStreamSynchronize", 10, 20);
  builder.call("cudaStreamSynchronize", 20, 90, kNoId, 1);  // of a thread that copied nothing
  const EarlyReturns found = early_returns(builder.build(), kRounding);
  EXPECT_EQ(found.waits, 1);
  EXPECT_EQ(found.most_ns, 70'000);
}

}  // namespace
}  // namespace deepgap::trace
