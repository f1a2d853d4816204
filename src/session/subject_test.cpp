#include "session/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"

namespace deepgap::session {
namespace {

using ::testing::HasSubstr;

class SubjectTest : public ::testing::Test {
 protected:
  SubjectTest() : store_(store::Store::open(folder_.path() + "/x.db", store::OpenMode::kWrite)) {
    add("00000000000000aa", "resnet18", 1, 100);
    add("00000000000000ab", "resnet50", 8, 200);
    add("00000000000000ac", "resnet50", 8, 300);
  }

  void add(const std::string& id, const std::string& model, std::int64_t batch, std::int64_t created) {
    Measurement cell{.id = MeasurementId(id),
                     .key = {.workload = {.model = model, .batch = batch}, .engine = "fake", .device = "cpu"},
                     .created_realtime_ns = created};
    cell.device = {.address = "cpu", .name = "Some CPU"};
    ASSERT_TRUE(store_->put_measurement(cell).ok());
  }

  TemporaryFolder folder_;
  Result<store::Store> store_;
};

TEST_F(SubjectTest, AFileWinsOverAnIdOverASelector) {
  const std::string path = folder_.path() + "/00000000000000ab";
  std::ofstream(path) << "a file";
  const Result<Subject> file = resolve_subject(path, &*store_);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(std::get<FileSubject>(*file).path, path);
  const Result<Subject> id = resolve_subject("00000000000000ab", &*store_);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(std::get<MeasurementId>(*id).str(), "00000000000000ab");
  EXPECT_TRUE(std::holds_alternative<Selector>(*resolve_subject("resnet50/fake/cpu/fp32/b8", &*store_)));
}

TEST_F(SubjectTest, TheNewestOfSeveralMatches) {
  const Result<MeasurementId> id = resolve_one("resnet50/fake/cpu/fp32/b8", *store_);
  ASSERT_TRUE(id.ok()) << id.error().message();
  EXPECT_EQ(id->str(), "00000000000000ac");
}

TEST_F(SubjectTest, AnAmbiguousPrefixIsAnErrorWithTheCandidates) {
  const Result<MeasurementId> id = resolve_one("00000000000000a", *store_);
  ASSERT_FALSE(id.ok());
  EXPECT_EQ(id.error().kind(), ErrorKind::kUsage);
  EXPECT_THAT(id.error().message(), HasSubstr("00000000000000ab"));
}

TEST_F(SubjectTest, WhatMatchesNothingIsNamed) {
  const auto none = resolve_one("resnet999/*/*/*/*", *store_);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message(), HasSubstr("resnet999"));
  const auto neither = resolve_one("no such thing", *store_);
  ASSERT_FALSE(neither.ok());
  EXPECT_THAT(neither.error().message(), HasSubstr("resnet50/openvino/cpu/fp32/b8"));
}

}  // namespace
}  // namespace deepgap::session
