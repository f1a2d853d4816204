#include "hw/tree_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTree =
    "deepgap-root 1\n"
    "# a comment\n"
    ".dockerenv =\n"
    "[/proc]\n"
    "cpuinfo:\n"
    "|processor : 0\n"
    "|\n"
    "||x = 1\n"
    "; another\n"
    "[/sys/cpu0]\n"
    "core_id = 0\n"
    "name = a = b\n"
    "[/sys/cpu0/cache]\n"
    "size = 48K\n"
    "[/sys/cpu1]\n"
    "core_id = 1\n";

TEST(TreeFileSystem, ReadsFilesOfOneLineOfManyAndEmptyOnes) {
  const auto tree = TreeFileSystem::parse(kTree);
  ASSERT_TRUE(tree.ok()) << tree.error().message();
  EXPECT_EQ(tree->read("/proc/cpuinfo").value(), "processor : 0\n\n|x = 1\n");
  EXPECT_EQ(tree->read("/sys/cpu0/core_id").value(), "0\n");
  EXPECT_EQ(tree->read("/sys/cpu0/name").value(), "a = b\n");
  EXPECT_EQ(tree->read("/.dockerenv").value(), "");
  EXPECT_FALSE(tree->read("/sys/cpu0").ok());
  EXPECT_FALSE(tree->read("/nothing").ok());
}

TEST(TreeFileSystem, ListsAFoldersNamesOnce) {
  const auto tree = TreeFileSystem::parse(kTree);
  ASSERT_TRUE(tree.ok());
  EXPECT_THAT(tree->list("/sys"), ElementsAre("cpu0", "cpu1"));
  EXPECT_THAT(tree->list("/sys/cpu0"), ElementsAre("cache", "core_id", "name"));
  EXPECT_THAT(tree->list("/sys/cpu"), IsEmpty());
  EXPECT_TRUE(tree->exists("/sys/cpu0/cache"));
  EXPECT_TRUE(tree->exists("/.dockerenv"));
  EXPECT_FALSE(tree->exists("/sys/cpu"));
}

TEST(TreeFileSystem, SaysWhatIsWrongAndWhere) {
  const auto message = [](const char* text) {
    const auto tree = TreeFileSystem::parse(text);
    return tree.ok() ? std::string("read") : tree.error().message();
  };
  EXPECT_THAT(message(""), HasSubstr("capture-root.sh"));
  EXPECT_THAT(message("<html>"), HasSubstr("<html>"));
  EXPECT_THAT(message("deepgap-root 1\n|orphan\n"), HasSubstr("line 2"));
  EXPECT_THAT(message("deepgap-root 1\n[relative]\n"), HasSubstr("line 2"));
  EXPECT_THAT(message("deepgap-root 1\n\nwhat is this\n"), HasSubstr("line 3"));
}

}  // namespace
}  // namespace deepgap::hw
