#include <gtest/gtest.h>

#include "store/store.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

Trace make_trace(const std::string& id) {
  Trace trace;
  trace.id = TraceId(id);
  trace.format = "chrome";
  trace.source = "b.json.gz";
  trace.content_hash = "00ff";
  trace.created_realtime_ns = 5;
  trace.clocks = ClockPair{Nanoseconds(1), Nanoseconds(2)};
  return trace;
}

std::vector<OpRecord> make_records() {
  OpRecord op;
  op.name = "aten::conv2d";
  op.op_class = "convolution";
  op.shapes = {{8, 3, 224, 224}, {}, {64}};
  op.dtypes = {"float32", "float32"};
  op.module_path = "layer1.0.conv1";
  op.start_at = Nanoseconds(1'000);
  op.duration = Nanoseconds(50);
  op.lane = "thread 1";
  op.flops = Flops{2'000'000'000'000};
  op.bytes = Bytes{77};
  op.precision_path = Precision::kTf32;
  OpRecord kernel;
  kernel.name = "kernel<\"float\", 4>";
  kernel.role = OpRole::kKernel;
  kernel.parent = 0;
  kernel.correlation = -3;
  OpRecord nameless;
  nameless.role = OpRole::kAnnotation;
  return {op, kernel, nameless};
}

void expect_same(const std::vector<OpRecord>& a, const std::vector<OpRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].role, b[i].role);
    EXPECT_EQ(a[i].op_class, b[i].op_class);
    EXPECT_EQ(a[i].shapes, b[i].shapes);
    EXPECT_EQ(a[i].dtypes, b[i].dtypes);
    EXPECT_EQ(a[i].module_path, b[i].module_path);
    EXPECT_EQ(a[i].start_at, b[i].start_at);
    EXPECT_EQ(a[i].duration, b[i].duration);
    EXPECT_EQ(a[i].lane, b[i].lane);
    EXPECT_EQ(a[i].parent, b[i].parent);
    EXPECT_EQ(a[i].correlation, b[i].correlation);
    EXPECT_EQ(a[i].flops, b[i].flops);
    EXPECT_EQ(a[i].bytes, b[i].bytes);
    EXPECT_EQ(a[i].precision_path, b[i].precision_path);
  }
}

TEST_F(StoreTest, OpRecordsComeBack) {
  Store store = open(db());
  ASSERT_OK(store.put_measurement(make_measurement(1, 1)));
  Trace trace = make_trace("00000000000000f1");
  trace.measurement = id_of(1);
  trace.process = 0;
  ASSERT_OK(store.put_trace(trace, make_records()));
  ASSERT_OK(store.put_trace(make_trace("00000000000000f2"), {}));
  const Result<std::vector<OpRecord>> records = store.op_records(trace.id);
  ASSERT_OK(records);
  expect_same(*records, make_records());
  EXPECT_TRUE(store.op_records(TraceId("00000000000000f2"))->empty());
  EXPECT_EQ(store.op_records(TraceId("00000000000000f3")).error().kind(), ErrorKind::kUsage);

  EXPECT_EQ(store.traces()->size(), 2U);
  const std::vector<Trace> of_cell = store.traces(id_of(1)).value();
  ASSERT_EQ(of_cell.size(), 1U);
  EXPECT_EQ(of_cell[0].id, trace.id);
  EXPECT_EQ(of_cell[0].measurement, id_of(1));
  EXPECT_EQ(of_cell[0].process, 0);
  EXPECT_EQ(of_cell[0].source, "b.json.gz");
  EXPECT_EQ(of_cell[0].clocks->realtime_at, Nanoseconds(2));
}

TEST_F(StoreTest, TraceWithABadPartIsNotStored) {
  Store store = open(db());
  Trace trace = make_trace("00000000000000f1");
  trace.measurement = id_of(9);
  EXPECT_FALSE(store.put_trace(trace, make_records()).ok());
  EXPECT_TRUE(store.traces()->empty());
}

TEST_F(StoreTest, MergeBringsTracesOnce) {
  {
    Store other = open(file("other.db"));
    ASSERT_OK(other.put_measurement(make_measurement(1, 1)));
    Trace trace = make_trace("00000000000000f1");
    trace.measurement = id_of(1);
    trace.process = 0;
    ASSERT_OK(other.put_trace(trace, make_records()));
  }
  Store store = open(db());
  ASSERT_OK(store.put_trace(make_trace("00000000000000f2"), make_records()));  // texts that are here already
  EXPECT_EQ(store.merge(file("other.db"))->traces_added, 1);
  EXPECT_EQ(store.merge(file("other.db"))->traces_added, 0);
  ASSERT_EQ(store.traces(id_of(1))->size(), 1U);
  expect_same(store.op_records(TraceId("00000000000000f1")).value(), make_records());
}

}  // namespace
}  // namespace deepgap::store
