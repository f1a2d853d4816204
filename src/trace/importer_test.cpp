#include "trace/importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/temporary_folder.h"

namespace deepgap::trace {
namespace {

using testing::HasSubstr;

TEST(Importers, AreDescribedAndTellThemselvesApart) {
  std::set<std::string_view> ids;
  for (const Importer* importer : importers()) {
    const Format& format = importer->format();
    EXPECT_TRUE(ids.insert(format.id).second) << format.id;
    EXPECT_FALSE(format.title.empty() || format.content.empty() || format.basis.empty()) << format.id;
    EXPECT_EQ(importer->sniff("", 0), Match::kNo) << format.id;
    EXPECT_TRUE(
        std::ifstream(std::string(DEEPGAP_SOURCE_FOLDER "/docs/formats/") + std::string(format.id) + ".md"))
        << "docs/formats has no page of " << format.id;
  }
}

TEST(Importers, AFileOfNoneSaysWhatItLooksLike) {
  TemporaryFolder folder;
  const auto error_of = [&folder](const std::string& content) {
    std::ofstream(folder / "x", std::ios::binary) << content;
    const Result<ByteSource> source = ByteSource::open(folder / "x");
    EXPECT_TRUE(source.ok());
    const Result<const Importer*> found = importer_of(*source);
    EXPECT_FALSE(found.ok());
    EXPECT_EQ(found.error().kind(), ErrorKind::kBadInput);
    return found.error().message();
  };
  EXPECT_THAT(error_of(""), HasSubstr("found an empty file"));
  EXPECT_THAT(error_of("# Notes\nmore\n"), HasSubstr("found text that begins with '# Notes'"));
}

TEST(Sources, WhatIsNoFileIsAnError) {
  TemporaryFolder folder;
  EXPECT_THAT(ByteSource::open(folder.path()).error().message(), HasSubstr(folder.path()));
  EXPECT_THAT(ByteSource::open(folder / "missing").error().message(), HasSubstr("No such file"));
  EXPECT_EQ(ByteSource::open("/dev/null").error().kind(), ErrorKind::kBadInput);
}

}  // namespace
}  // namespace deepgap::trace
