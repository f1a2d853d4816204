#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file_system.h"
#include "base/random.h"
#include "graph/builtin.h"
#include "graph/file_kind.h"
#include "graph/inputs.h"
#include "graph/model_file.h"
#include "graph/summary.h"
#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string parse_error(std::string_view bytes) {
  return error_of(parse_model(bytes, "m.onnx"));
}

class ReadModel : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("deepgap_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  fs::path folder_;
};

TEST_F(ReadModel, ReadsWhatTheBuilderMakes) {
  const std::string path = write("tiny.onnx", bytes_of(tiny_convolution()));
  const Result<Model> model = read_model(path);
  ASSERT_TRUE(model.ok()) << model.error().message();
  const ModelInfo info = model->info();
  EXPECT_EQ(info.opset, 17);
  EXPECT_EQ(info.nodes, 2);
  EXPECT_EQ(info.parameters, 16 * 27);
  EXPECT_EQ(info.parameter_bytes, Bytes{16 * 27 * 4});
  ASSERT_EQ(info.inputs.size(), 1U);
  EXPECT_EQ(info.inputs[0].describe(), "input float32 [batch, 3, 8, 8]");
  EXPECT_TRUE(info.remarks.empty());
}

TEST_F(ReadModel, OpsetsFromNineOnAndNoneBeyond) {
  for (std::int64_t opset = oldest_opset(); opset <= newest_opset(); ++opset) {
    EXPECT_TRUE(parse_model(bytes_of(tiny_convolution(opset)), "m").ok()) << opset;
  }
  EXPECT_GE(newest_opset(), 28);
  EXPECT_THAT(parse_error(bytes_of(tiny_convolution(8))), HasSubstr("found opset 8"));
  EXPECT_THAT(parse_error(bytes_of(tiny_convolution(999))), HasSubstr("found opset 999"));
}

TEST_F(ReadModel, SaysWhatTheFileIs) {
  EXPECT_THAT(parse_error(""), HasSubstr("an empty file"));
  EXPECT_THAT(parse_error("\n<!DOCTYPE html><html><body>404</body></html>"), HasSubstr("an HTML page"));
  EXPECT_THAT(parse_error(std::string("PK\x03\x04zip", 7)), HasSubstr("a zip archive"));
  EXPECT_THAT(parse_error("version https://git-lfs.github.com/spec/v1\noid sha256:00"),
              HasSubstr("git lfs pull"));
  EXPECT_THAT(parse_error("{\"a\": 1}"), HasSubstr("a JSON file"));
  EXPECT_THAT(parse_error("<?xml version=\"1.0\"?><net/>"), HasSubstr("an XML file"));
  EXPECT_THAT(parse_error("hello world, this is a text"), HasSubstr("expected an ONNX model"));
  EXPECT_THAT(parse_error(std::string(1000, '\0')), HasSubstr("expected an ONNX model"));
  EXPECT_THAT(parse_error("\x08\x08"), HasSubstr("without a graph"));
}

// "found <what it is>: <what to do>".
TEST_F(ReadModel, SaysWhatToDoWithWhatTheFileIs) {
  using namespace std::string_literals;
  const std::string starts[] = {"<html>",
                                "PK\x03\x04zip",
                                "\x1f\x8b",
                                "\x28\xb5\x2f\xfd",
                                "version https://git-lfs",
                                "\x89HDF",
                                "\x89PNG",
                                "\xff\xd8\xff",
                                "\x7f"
                                "ELF",
                                "GGUF",
                                "SQLite format 3",
                                "\x80\x02",
                                "\x80\x04",
                                "ftrt",
                                "%PDF-1.4",
                                "\0\0\0\0TFL3"s,
                                "<?xml?>",
                                "{\"a\": 1}"};
  for (const std::string& bytes : starts)
    EXPECT_THAT(parse_error(bytes), testing::ContainsRegex("found an? [^:]+: [a-z]")) << bytes;
}

TEST_F(ReadModel, SaysWhereTheFileIs) {
  EXPECT_THAT(error_of(read_model((folder_ / "none.onnx").string())), HasSubstr("no such file"));
  EXPECT_THAT(error_of(read_model(folder_.string())), HasSubstr("found a folder"));
  fs::create_symlink("loop.onnx", folder_ / "loop.onnx");
  EXPECT_THAT(error_of(read_model((folder_ / "loop.onnx").string())),
              HasSubstr("cannot be followed (Too many"));
  const std::string path = write("empty.onnx", "");
  const std::string message = error_of(read_model(path));
  EXPECT_THAT(message, HasSubstr(path));
  EXPECT_THAT(message, HasSubstr("an empty file"));
  EXPECT_EQ(read_model(path).error().kind(), ErrorKind::kBadInput);
}

TEST_F(ReadModel, AFileAboveTwoGigabytesIsRefusedUnread) {
  const std::string path = write("large.onnx", "x");
  std::error_code error;
  fs::resize_file(path, std::uintmax_t{3} << 30, error);  // sparse
  if (error) GTEST_SKIP() << "no sparse files here";
  EXPECT_THAT(error_of(read_model(path)),
              HasSubstr("at most 2147483647 bytes (below 2 GiB), found 3221225472: save"));
}

TEST_F(ReadModel, TruncationSaysHowMuchIsMissing) {
  const std::string bytes = bytes_of(tiny_convolution());
  // The graph (field 7) and the fields before it reach up to the field of the opsets behind it.
  const std::string half = bytes.substr(0, bytes.size() / 2);
  const std::string message = parse_error(half);
  EXPECT_THAT(message, testing::MatchesRegex(".*: expected an ONNX model of at least [0-9]+ bytes, found " +
                                             std::to_string(half.size()) +
                                             ": it is truncated, export or download it again"));
  const std::string before = "at least ";
  const auto least = std::stoull(message.substr(message.find(before) + before.size()));
  EXPECT_GT(least, half.size());
  EXPECT_LE(least, bytes.size());
}

// What is expected is never what was found, wherever the file ends.
TEST_F(ReadModel, TheOuterFormIsSaidAsExpectedAndFound) {
  // Field 1 (ir_version) and field 2 (producer_name, of 3 bytes), cut and bent.
  const auto form = [](std::string_view bytes) { return outer_damage(bytes).value_or("whole"); };
  EXPECT_EQ(form("\x08\x08\x12\x03"
                 "abc"),
            "whole");
  EXPECT_EQ(form("\x08\x08\x12\x03"
                 "a"),
            "expected an ONNX model of at least 7 bytes, found 5: it is truncated");
  EXPECT_EQ(form("\x08\x08\x12"), "expected an ONNX model of at least 4 bytes, found 3: it is truncated");
  EXPECT_EQ(form("\x08\x08\x12\x83"), "expected an ONNX model of at least 5 bytes, found 4: it is truncated");
  EXPECT_EQ(form("\x08"), "expected an ONNX model of at least 2 bytes, found 1: it is truncated");
  EXPECT_EQ(form("\x08\x08\xff\x0f"),
            "expected an ONNX model, found 4 bytes of which byte 2 begins none of its fields: it is damaged");
  EXPECT_EQ(form("\x08\x08\x13"),
            "expected an ONNX model, found 3 bytes of which byte 2 begins none of its fields: it is damaged");
  EXPECT_EQ(
      form("\x08" + std::string(12, '\xff')),
      "expected an ONNX model, found 13 bytes of which byte 0 begins a number without an end: it is damaged");
  EXPECT_EQ(form("\x08\x08\x12\xff\xff\xff\xff\x0f"
                 "a"),
            "expected an ONNX model, found 9 bytes of which byte 2 begins a field of 4294967295 bytes: it is "
            "damaged");
}

TEST_F(ReadModel, UnknownOperatorsAreNamedWithTheirNodes) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {fixed(1), fixed(4)});
  const Value y = graph.node("Frobnicate", {x}, {}, "first");
  graph.output(graph.node("Gelu", {y}, {}, "second"), "y", ops::DataType::kFloat32, {fixed(1), fixed(4)});
  const std::string message = error_of(graph.build());
  EXPECT_THAT(message, HasSubstr("'Frobnicate' (node 'first')"));
  EXPECT_THAT(message, HasSubstr("'Gelu' (node 'second')"));  // of opset 20
  EXPECT_THAT(message, HasSubstr("opset 17"));
}

TEST_F(ReadModel, AnUndeclaredDomainIsNamed) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {fixed(1), fixed(4)});
  const auto y = graph.nodes("FusedThing", {x}, 1, {}, "fused", "com.example");
  graph.output(y[0], "y", ops::DataType::kFloat32, {fixed(1), fixed(4)});
  EXPECT_THAT(error_of(graph.build()), HasSubstr("com.example"));
}

TEST_F(ReadModel, OperatorsOfOtherDomainsAreKeptAndListed) {
  GraphBuilder graph("g", 17, 1);
  graph.use_domain("com.example", 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const auto y = graph.nodes("FusedThing", {x}, 1, {}, "fused", "com.example");
  graph.output(graph.node("Relu", {y[0]}), "y", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const Model model = built(std::move(graph));
  EXPECT_EQ(model.info().custom_operators, std::vector<std::string>{"com.example.FusedThing"});
  EXPECT_TRUE(model.info().remarks.empty());
  const Result<ModelSummary> summary = analyse(model, 1);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->flops, std::nullopt);
  EXPECT_THAT(summary->unknown, testing::Contains("fused (com.example.FusedThing)"));
}

TEST_F(ReadModel, ShapesThatContradictAreARemark) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {fixed(1), fixed(4)});
  const Value w = graph.random_weight("w", {5, 6}, 1);
  graph.output(graph.node("MatMul", {x, w}, {}, "product"), "y", ops::DataType::kFloat32,
               {fixed(1), fixed(6)});
  const Result<Model> model = graph.build();
  ASSERT_TRUE(model.ok()) << model.error().message();
  ASSERT_EQ(model->info().remarks.size(), 1U);
  EXPECT_THAT(model->info().remarks[0], HasSubstr("shapes contradict"));
}

TEST_F(ReadModel, HostileTextIsMadePrintable) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {fixed(1)});
  graph.output(graph.node("Bad\x1b[31mOp\n", {x}, {}, "n\x07"), "y", ops::DataType::kFloat32, {fixed(1)});
  const std::string message = error_of(graph.build());
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(message.find('\x07'), std::string::npos);
}

TEST_F(ReadModel, SaveAndReadGiveTheSame) {
  const Model model = built(tiny_convolution());
  const std::string path = (folder_ / "saved.onnx").string();
  ASSERT_TRUE(model.save(path).ok());
  const Result<Model> again = read_model(path);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again->serialise(), *model.serialise());
  EXPECT_EQ(again->clone().info().parameters, model.info().parameters);
}

// Every prefix of 64ths, and 500 seeded flips of one to four bytes: an error or a model, never a crash. What
// is read is also asked about.
TEST_F(ReadModel, DamageNeverCrashes) {
  std::vector<std::string> seeds = {bytes_of(tiny_convolution())};
  for (const char* name :
       {"node_if.onnx", "poly_qdq_conv.onnx", "light_squeezenet.onnx", "node_attention_4d.onnx"}) {
    const std::string path = std::string(DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/onnx/") + name;
    if (Result<std::string> bytes = RootedFileSystem().read(path)) seeds.push_back(std::move(*bytes));
  }
  const auto use = [](std::string_view bytes) {
    const Result<Model> model = parse_model(bytes, "damaged");
    if (!model.ok()) {
      EXPECT_FALSE(model.error().message().empty());
      return;
    }
    (void)model->info();
    (void)analyse(*model, 1);
    (void)input_specs(*model, {}, 1);
  };
  Random random(7);
  for (const std::string& seed : seeds) {
    for (std::size_t part = 0; part < 64; ++part)
      use(std::string_view(seed).substr(0, seed.size() * part / 64));
    for (int trial = 0; trial < 500; ++trial) {
      std::string damaged = seed;
      // Mostly the structure at the start, not the weights behind it.
      const std::uint64_t span = trial % 2 == 0 ? seed.size() : std::min<std::uint64_t>(seed.size(), 400);
      for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips) {
        damaged[random.below(span)] = static_cast<char>(random.below(256));
      }
      use(damaged);
    }
  }
}

TEST_F(ReadModel, ThirdPartyModels) {
  const std::string folder = DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/onnx/";
  if (!RootedFileSystem().exists(folder)) GTEST_SKIP() << "the shared third-party models are not here";
  // Weights are replaced by ConstantOfShape and still count. SqueezeNet 1.1 as torchvision lists it:
  // 1,235,496.
  const Result<Model> squeezenet = read_model(folder + "light_squeezenet.onnx");
  ASSERT_TRUE(squeezenet.ok()) << squeezenet.error().message();
  EXPECT_EQ(squeezenet->info().parameters, 1'235'496);
  const Result<Model> resnet = read_model(folder + "light_resnet50.onnx");
  ASSERT_TRUE(resnet.ok()) << resnet.error().message();
  const Result<ModelSummary> summary = analyse(*resnet, 1);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->parameters, 25'557'032);
  EXPECT_NEAR(static_cast<double>(summary->contraction_flops.value) / 2e9, 4.089, 0.001);

  const Result<Model> twice = read_model(folder + "poly_bad_graph_with_duplicate_node_names.onnx");
  ASSERT_TRUE(twice.ok()) << twice.error().message();
  ASSERT_EQ(twice->info().remarks.size(), 1U);
  EXPECT_THAT(twice->info().remarks[0], HasSubstr("'identical'"));

  EXPECT_THAT(error_of(read_model(folder + "poly_ext_weights.onnx")), HasSubstr("ext_weights.data"));
  EXPECT_TRUE(read_model(folder + "poly_qdq_conv.onnx").ok());
  EXPECT_TRUE(read_model(folder + "node_qlinearconv.onnx").ok());

  const Result<Model> branches = read_model(folder + "node_if.onnx");
  ASSERT_TRUE(branches.ok());
  const Result<ModelSummary> unknown = analyse(*branches, 1);
  ASSERT_TRUE(unknown.ok());
  EXPECT_EQ(unknown->flops, std::nullopt);
  EXPECT_EQ(unknown->unknown.size(), 1U);
}

}  // namespace
}  // namespace deepgap::graph
