#include "graph/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/file_system.h"
#include "base/hash.h"
#include "graph/builtin.h"
#include "graph/summary.h"
#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MaterialiseTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / (std::string("deepgap_materialise_") +
                                              testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view bytes) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  Result<ModelFile> make(const std::string& name, const Dims& dims = {}, std::uint64_t seed = 1) {
    return materialise(name, dims, seed, (folder_ / "cache").string());
  }
  fs::path folder_;
};

TEST_F(MaterialiseTest, BuiltinModelsAreMadeOnceAndMendedWhenDamaged) {
  const Result<ModelFile> first = make("mobilenet-v2");
  ASSERT_TRUE(first.ok()) << first.error().message();
  EXPECT_EQ(first->path, (folder_ / "cache/models/mobilenet-v2-1-1.onnx").string());
  EXPECT_TRUE(first->builtin);
  const std::string bytes = *RootedFileSystem().read(first->path);
  EXPECT_EQ(first->hash, content_hash(bytes));
  EXPECT_EQ(first->size, Bytes{static_cast<std::int64_t>(bytes.size())});

  const fs::file_time_type written = fs::last_write_time(first->path);
  const Result<ModelFile> second = make("mobilenet-v2");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(fs::last_write_time(first->path), written);

  std::string damaged = bytes;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  std::ofstream(first->path, std::ios::binary) << damaged;
  const Result<ModelFile> third = make("mobilenet-v2");
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->hash, first->hash);
  EXPECT_EQ(*RootedFileSystem().read(first->path), bytes);

  fs::remove(first->path + ".seal");
  EXPECT_EQ(make("mobilenet-v2")->hash, first->hash);
  EXPECT_NE(make("mobilenet-v2", {}, 2)->hash, first->hash);
}

TEST_F(MaterialiseTest, UnknownNamesAreUsageErrorsWithASuggestion) {
  const Result<ModelFile> file = make("resnet5O");
  EXPECT_THAT(error_of(file), HasSubstr("resnet50"));
  EXPECT_EQ(file.error().kind(), ErrorKind::kUsage);
  EXPECT_EQ(make("none.onnx").error().kind(), ErrorKind::kBadInput);
  EXPECT_THAT(error_of(make("mobilenet-v2", {{"seq", 3}})), HasSubstr("takes no --dim"));
}

TEST_F(MaterialiseTest, DimsOfABuiltinHaveStandardsAndLimits) {
  const BuiltinModel* bert = find_builtin("bert-base");
  ASSERT_NE(bert, nullptr);
  EXPECT_EQ(complete_dims(*bert, {})->at("seq"), 128);
  EXPECT_EQ(complete_dims(*bert, {{"seq", 512}})->at("seq"), 512);
  EXPECT_THAT(error_of(complete_dims(*bert, {{"seq", 513}})), HasSubstr("between 1 and 512, found 513"));
  EXPECT_THAT(error_of(complete_dims(*bert, {{"sek", 5}})), HasSubstr("'seq'"));
}

TEST_F(MaterialiseTest, ACacheThatCannotBeWrittenIsSaid) {
  write("cache", "a file where the folder should be");
  const Result<ModelFile> file = make("mobilenet-v2");
  EXPECT_THAT(error_of(file), HasSubstr("keeping the model 'mobilenet-v2'"));
  EXPECT_EQ(file.error().kind(), ErrorKind::kBadInput);
}

// A limit on the size of files stands in for a full disk: the write stops half way.
TEST_F(MaterialiseTest, AFullDiskIsSaidAndLeavesNothingBehind) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<ModelFile> file = make("mobilenet-v2");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  EXPECT_THAT(error_of(file), HasSubstr("free some space"));
  EXPECT_TRUE(fs::is_empty(folder_ / "cache/models"));
  EXPECT_TRUE(make("mobilenet-v2").ok());
}

TEST_F(MaterialiseTest, UserFilesAreUsedInPlace) {
  const std::string bytes = bytes_of(tiny_convolution());
  const std::string path = write("my.model.onnx", bytes);
  const Result<ModelFile> file = make(path);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->path, path);
  EXPECT_EQ(file->name, "my.model");
  EXPECT_EQ(file->hash, content_hash(bytes));
  EXPECT_FALSE(file->builtin);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  EXPECT_THAT(error_of(make(path, {{"seq", 3}})), HasSubstr("no open dimension 'seq'"));
}

GraphBuilder with_external(const std::string& location, std::int64_t offset = 0) {
  GraphBuilder graph("external", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {symbolic("batch"), fixed(64)});
  const Value w = graph.external_weight("w", ops::DataType::kFloat32, {64, 64}, location, offset);
  graph.output(graph.node("MatMul", {x, w}), "y", ops::DataType::kFloat32, {symbolic("batch"), fixed(64)});
  return graph;
}

TEST_F(MaterialiseTest, ExternalWeightsCountInHashAndSize) {
  const std::string bytes = bytes_of(with_external("data/w.bin"));
  const std::string path = write("m.onnx", bytes);
  write("data/w.bin", std::string(64 * 64 * 4, 'a'));
  const Result<ModelFile> file = make(path);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->model.info().external_files, std::vector<std::string>{"data/w.bin"});
  EXPECT_EQ(file->model.info().parameters, 64 * 64);
  EXPECT_EQ(file->size, Bytes{static_cast<std::int64_t>(bytes.size()) + 64 * 64 * 4});
  const std::string hash = file->hash;
  write("data/w.bin", std::string(64 * 64 * 4, 'b'));
  EXPECT_NE(make(path)->hash, hash);
  EXPECT_TRUE(analyse(file->model, 4).ok());
  // Saved elsewhere, the weights are inside.
  const std::string saved = (folder_ / "saved.onnx").string();
  ASSERT_TRUE(file->model.save(saved).ok());
  const Result<Model> whole = read_model(saved);
  ASSERT_TRUE(whole.ok()) << whole.error().message();
  EXPECT_TRUE(whole->info().external_files.empty());
}

TEST_F(MaterialiseTest, ExternalWeightsMustBeThereWholeAndInside) {
  write("short.bin", std::string(100, 'a'));
  write("outside.bin", std::string(64 * 64 * 4, 'a'));
  const auto error_with = [&](const std::string& location, std::int64_t offset = 0) {
    return error_of(make(write("model/m.onnx", bytes_of(with_external(location, offset)))));
  };
  EXPECT_THAT(error_with("gone.bin"), HasSubstr("there is no such file"));
  EXPECT_THAT(error_with("gone.bin"), HasSubstr("tensor 'w'"));
  EXPECT_THAT(error_with("../outside.bin"), HasSubstr("leads out of it"));
  EXPECT_THAT(error_with("a/../../outside.bin"), HasSubstr("leads out of it"));
  EXPECT_THAT(error_with((folder_ / "outside.bin").string()), HasSubstr("leads out of it"));
  EXPECT_THAT(error_with(""), HasSubstr("does not say in which"));
  fs::create_directories(folder_ / "model/inner");
  EXPECT_THAT(error_with("inner"), HasSubstr("found a folder"));
  EXPECT_THAT(error_with("."), HasSubstr("found a folder"));
  ASSERT_EQ(mkfifo((folder_ / "model/pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_with("pipe"), HasSubstr("found a device or a pipe"));
  fs::copy_file(folder_ / "short.bin", folder_ / "model/short.bin");
  EXPECT_THAT(error_with("short.bin"), HasSubstr("the file has 100"));
  EXPECT_THAT(error_with("short.bin", -5), HasSubstr("offset '-5'"));
  EXPECT_THAT(error_of(parse_model(bytes_of(with_external("w.bin")), "m")), HasSubstr("another file"));
}

}  // namespace
}  // namespace deepgap::graph
