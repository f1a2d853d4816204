#include "ops/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ops/kernel_table.h"
#include "ops/kernel_text.h"

namespace deepgap::ops {
namespace {

TEST(KernelTable, WhatIsCompiledInIsWellFormed) {
  const auto table = read_kernel_table(kernel_names_text());
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->size(), kernel_table().size());
  for (const KernelPattern& pattern : *table) {
    EXPECT_NE(pattern.origin, "") << "line " << pattern.line;
  }
}

}  // namespace
}  // namespace deepgap::ops
