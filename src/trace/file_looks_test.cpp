#include "trace/file_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap::trace {
namespace {

using namespace std::string_view_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(FileLooks, SaysWhatPeopleBring) {
  EXPECT_EQ(looks_of("", 0), "an empty file");
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_THAT(looks_of(tar, 512), HasSubstr("a tar archive: unpack it first"));
  EXPECT_THAT(looks_of("PK\x03\x04..", 6), HasSubstr("a ZIP archive"));
  EXPECT_THAT(looks_of("\x89PNG\r\n", 6), HasSubstr("a picture (PNG)"));
  EXPECT_THAT(looks_of("\xff\xd8\xff\xe0", 4), HasSubstr("a picture (JPEG)"));
  EXPECT_THAT(looks_of("%PDF-1.7", 8), HasSubstr("a PDF document"));
  EXPECT_THAT(looks_of("\x7f"
                       "ELF\0"sv,
                       5),
              HasSubstr("a program (ELF)"));
  EXPECT_THAT(looks_of("\x1f\x8b\x08", 3), HasSubstr("a gzip file inside"));
  EXPECT_THAT(looks_of("<!DOCTYPE HTML>\n<p>", 20),
              HasSubstr("a web page that begins with '<!DOCTYPE HTML>'"));
  EXPECT_THAT(looks_of("  <html>404</html>", 20), HasSubstr("a web page"));
  std::string store = "SQLite format 3";
  store.resize(100);
  store.replace(68, 4, "DGap");
  EXPECT_THAT(looks_of(store, 100), HasSubstr("a store of deepgap's own"));
  EXPECT_THAT(looks_of("SQLite format 3\0 ... CREATE TABLE other("sv, 99), HasSubstr("an SQLite database"));
  EXPECT_THAT(looks_of("\x08\x08\x12\x07pytorch", 11), HasSubstr("an ONNX model: `deepgap run FILE`"));
  EXPECT_THAT(looks_of("\x0a\x05\x40\x01\0\0"sv, 6), HasSubstr("Perfetto"));
  EXPECT_THAT(looks_of("NVR\0\x0a\x08"sv, 6), HasSubstr("a report of Nsight Compute: export it with `ncu"));
  EXPECT_THAT(looks_of("\0\1\2"sv, 3), HasSubstr("a binary file of 3 bytes: a report of Nsight Systems"));
  EXPECT_EQ(looks_of("# Notes\nmore", 12), "text that begins with '# Notes'");
}

TEST(FileLooks, NamesTheMembersOfUnknownJson) {
  EXPECT_EQ(looks_of(R"({"epoch": 1, "loss": {"inner": 2}, "cut": [1, 2)", 48),
            "JSON with the members epoch, loss, cut");
  EXPECT_THAT(looks_of("{\"\x1b[31m\": 1}", 12), Not(HasSubstr("\x1b")));
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\": 0,";
  EXPECT_THAT(looks_of(many, 1), HasSubstr("k0, k1, k2, k3, k4, k5, k6, k7"));
  EXPECT_THAT(looks_of(many, 1), Not(HasSubstr("k8")));
  EXPECT_THAT(looks_of("{ }", 3), HasSubstr("text that begins with '{ }'"));
  EXPECT_THAT(looks_of(std::string(60'000, '['), 1), HasSubstr("text that begins with '[["));
}

}  // namespace
}  // namespace deepgap::trace
