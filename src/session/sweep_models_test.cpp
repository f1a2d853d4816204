#include "session/sweep_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "graph/builder.h"

namespace deepgap::session {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A model whose weights lie beside it is named on a command line; they never are.
TEST(SweepModels, TheDocumentTakesThePlaceOfNothingThatAModelNeeds) {
  TemporaryFolder folder;
  graph::GraphBuilder graph("external", 17, 1);
  const graph::Value x =
      graph.input("x", ops::DataType::kFloat32, {graph::symbolic("batch"), graph::fixed(8)});
  const graph::Value w = graph.external_weight("w", ops::DataType::kFloat32, {8, 8}, "w.bin", 0);
  graph.output(graph.node("MatMul", {x, w}), "y", ops::DataType::kFloat32,
               {graph::symbolic("batch"), graph::fixed(8)});
  std::ofstream(folder / "w.bin", std::ios::binary) << std::string(8 * 8 * 4, 'a');
  std::ofstream(folder / "m.onnx", std::ios::binary) << graph.build_bytes().value();
  const auto models = [&](const std::string& output) {
    Environment environment;
    environment.cache_folder = folder / "cache";
    environment.is_output = [output](const std::string& path) { return path == output; };
    return sweep_models({folder / "m.onnx"}, {}, environment);
  };
  ASSERT_TRUE(models(folder / "report.json").ok());
  for (const char* taken : {"w.bin", "m.onnx"}) {
    const auto refused = models(folder / taken);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kUsage);
    EXPECT_THAT(refused.error().message(),
                AllOf(HasSubstr(std::string(taken) + ", which belongs to the model m"),
                      HasSubstr("name another file")));
  }
}

}  // namespace
}  // namespace deepgap::session
