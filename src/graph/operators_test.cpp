// Every operator that this build's ONNX has schemas for is in the table of ops, so that a new ONNX release
// shows here.
#include <gtest/gtest.h>

#include "onnx/defs/schema.h"
#include "ops/op_class.h"

namespace deepgap::graph {
namespace {

TEST(Operators, EveryStandardOperatorHasAClass) {
  int count = 0;
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
    if (!schema.domain().empty()) continue;
    ++count;
    EXPECT_NE(ops::classify(ops::FrontEnd::kOnnx, schema.Name()), nullptr) << schema.Name();
  }
  EXPECT_GT(count, 180);
}

}  // namespace
}  // namespace deepgap::graph
