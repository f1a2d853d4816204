#include "graph/builder.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/random.h"
#include "graph/onnx_model.h"
#include "ops/count.h"

namespace deepgap::graph {
namespace {

// The IR version that came with an opset (docs/Versioning.md of ONNX), so that old engines take old opsets.
std::int64_t ir_version_for(std::int64_t opset) {
  if (opset <= 9) return 4;
  if (opset <= 10) return 5;
  if (opset <= 11) return 6;
  if (opset <= 13) return 7;
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  return 10;
}

// 64-bit FNV-1a: gives each weight a random stream of its own.
std::uint64_t stream_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  return hash;
}

void set_shape(onnx::ValueInfoProto& value, const std::string& name, ops::DataType dtype,
               const std::vector<Dim>& dims) {
  value.set_name(name);
  auto* tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx_type_of(dtype));
  auto* shape = tensor->mutable_shape();
  for (const Dim& dim : dims) {
    auto* added = shape->add_dim();
    if (dim.size) added->set_dim_value(*dim.size);
    if (!dim.size && !dim.symbol.empty()) added->set_dim_param(dim.symbol);
  }
}

void append_little_endian(std::string& bytes, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

// Writes `count` floats, each made by `make()`.
template <typename Make>
std::string float_bytes(std::size_t count, Make make) {
  std::string bytes;
  bytes.resize(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    auto word = std::bit_cast<std::uint32_t>(static_cast<float>(make()));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    std::memcpy(bytes.data() + i * sizeof word, &word, sizeof word);
  }
  return bytes;
}

onnx::AttributeProto as_proto(const Attribute& attribute) {
  onnx::AttributeProto proto;
  proto.set_name(attribute.name);
  switch (attribute.kind) {
    case Attribute::Kind::kInt:
      proto.set_type(onnx::AttributeProto::INT);
      proto.set_i(attribute.integers.front());
      break;
    case Attribute::Kind::kInts:
      proto.set_type(onnx::AttributeProto::INTS);
      for (const std::int64_t value : attribute.integers) proto.add_ints(value);
      break;
    case Attribute::Kind::kFloat:
      proto.set_type(onnx::AttributeProto::FLOAT);
      proto.set_f(attribute.numbers.front());
      break;
    case Attribute::Kind::kFloats:
      proto.set_type(onnx::AttributeProto::FLOATS);
      for (const float value : attribute.numbers) proto.add_floats(value);
      break;
    case Attribute::Kind::kText:
      proto.set_type(onnx::AttributeProto::STRING);
      proto.set_s(attribute.text);
      break;
  }
  return proto;
}

}  // namespace

Attribute integer(std::string name, std::int64_t value) {
  return {std::move(name), Attribute::Kind::kInt, {value}, {}, ""};
}
Attribute ints(std::string name, std::vector<std::int64_t> values) {
  return {std::move(name), Attribute::Kind::kInts, std::move(values), {}, ""};
}
Attribute number(std::string name, float value) {
  return {std::move(name), Attribute::Kind::kFloat, {}, {value}, ""};
}
Attribute numbers(std::string name, std::vector<float> values) {
  return {std::move(name), Attribute::Kind::kFloats, {}, std::move(values), ""};
}
Attribute text(std::string name, std::string value) {
  return {std::move(name), Attribute::Kind::kText, {}, {}, std::move(value)};
}

double he_deviation(std::int64_t fan_in) {
  return std::sqrt(2.0 / static_cast<double>(fan_in));
}

double xavier_deviation(std::int64_t fan_in, std::int64_t fan_out) {
  return std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

struct GraphBuilder::State {
  onnx::ModelProto proto;
  Random random;
  std::set<std::string> names;             // of values, all different
  std::map<std::string, int> made_up;      // how often a type's name was made up
  std::optional<std::string> mistake;      // the first
  std::map<std::uint32_t, Value> scalars;  // by bits
  std::map<std::vector<std::int64_t>, Value> lists;

  explicit State(std::uint64_t seed) : random(seed) {}

  onnx::GraphProto& graph() { return *proto.mutable_graph(); }

  void fail(std::string what) {
    if (!mistake) mistake = std::move(what);
  }
  void claim(const std::string& name) {
    if (name.empty() || !names.insert(name).second)
      fail(fmt::format("the value name '{}' is empty or used twice", name));
  }
  std::string make_up(const std::string& stem) {
    for (;;) {
      std::string name = fmt::format("{}_{}", stem, ++made_up[stem]);
      if (!names.contains(name)) return name;
    }
  }
  onnx::TensorProto* add_tensor(const std::string& name, ops::DataType dtype,
                                const std::vector<std::int64_t>& shape, std::size_t elements) {
    claim(name);
    if (ops::product(shape) != static_cast<std::int64_t>(elements)) {
      fail(fmt::format("the weight '{}' has {} values, which do not fit its shape", name, elements));
    }
    onnx::TensorProto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx_type_of(dtype));
    for (const std::int64_t dim : shape) tensor->add_dims(dim);
    return tensor;
  }
  std::size_t elements_of(const std::string& name, const std::vector<std::int64_t>& shape) {
    const ops::Count count = ops::product(shape);
    if (!count || *count > (std::int64_t{1} << 31)) {
      fail(fmt::format("the weight '{}' is too large", name));
      return 0;
    }
    return static_cast<std::size_t>(*count);
  }
};

GraphBuilder::GraphBuilder(std::string name, std::int64_t opset, std::uint64_t seed)
    : state_(std::make_unique<State>(seed)) {
  state_->proto.set_ir_version(ir_version_for(opset));
  state_->proto.set_producer_name("deepgap");
  state_->proto.add_opset_import()->set_version(opset);
  state_->graph().set_name(std::move(name));
}
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&&) noexcept = default;
GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::use_domain(const std::string& domain, std::int64_t version) {
  auto* import = state_->proto.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
}

Value GraphBuilder::input(const std::string& name, ops::DataType dtype, const std::vector<Dim>& dims) {
  state_->claim(name);
  set_shape(*state_->graph().add_input(), name, dtype, dims);
  return {name};
}

void GraphBuilder::output(const Value& value, const std::string& name, ops::DataType dtype,
                          const std::vector<Dim>& dims) {
  if (name != value.name) {
    state_->claim(name);
    for (auto& node : *state_->graph().mutable_node()) {
      for (auto& made : *node.mutable_output()) {
        if (made == value.name) made = name;
      }
      for (auto& used : *node.mutable_input()) {
        if (used == value.name) used = name;
      }
    }
  }
  set_shape(*state_->graph().add_output(), name, dtype, dims);
}

Value GraphBuilder::weight(const std::string& name, const std::vector<std::int64_t>& shape,
                           std::span<const float> values) {
  std::size_t next = 0;
  state_->add_tensor(name, ops::DataType::kFloat32, shape, values.size())
      ->set_raw_data(float_bytes(values.size(), [&] { return values[next++]; }));
  return {name};
}

Value GraphBuilder::integers(const std::string& name, const std::vector<std::int64_t>& shape,
                             std::span<const std::int64_t> values) {
  std::string bytes;
  for (const std::int64_t value : values) append_little_endian(bytes, static_cast<std::uint64_t>(value), 8);
  state_->add_tensor(name, ops::DataType::kInt64, shape, values.size())->set_raw_data(std::move(bytes));
  return {name};
}

Value GraphBuilder::scalar(float value) {
  Value& known = state_->scalars[std::bit_cast<std::uint32_t>(value)];
  if (known.empty()) known = weight(state_->make_up("scalar"), {}, std::span(&value, 1));
  return known;
}

Value GraphBuilder::list(std::vector<std::int64_t> values) {
  Value& known = state_->lists[values];
  if (known.empty())
    known = integers(state_->make_up("list"), {static_cast<std::int64_t>(values.size())}, values);
  return known;
}

Value GraphBuilder::raw_weight(const std::string& name, ops::DataType dtype,
                               const std::vector<std::int64_t>& shape, std::string bytes) {
  const std::size_t elements = state_->elements_of(name, shape);
  if (ops::bytes_of(dtype, static_cast<std::int64_t>(elements)) !=
      Bytes{static_cast<std::int64_t>(bytes.size())}) {
    state_->fail(
        fmt::format("the weight '{}' has {} bytes, which do not fit its shape and type", name, bytes.size()));
  }
  state_->add_tensor(name, dtype, shape, elements)->set_raw_data(std::move(bytes));
  return {name};
}

Value GraphBuilder::random_weight(const std::string& name, const std::vector<std::int64_t>& shape,
                                  double deviation, double mean) {
  const std::size_t count = state_->elements_of(name, shape);
  Random random = state_->random.fork(stream_of(name));
  // The sum s of four uniform integers below 2^16 has mean 2 (2^16 - 1) and variance 4 (2^32 - 1) / 12.
  constexpr std::int64_t kMean = 131070;
  const double factor = deviation / std::sqrt(4294967295.0 / 3.0);
  const auto offset = static_cast<float>(mean);
  std::string bytes = float_bytes(count, [&] {
    const std::uint64_t bits = random.next();
    const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    // Rounded to float before the sum: a fused multiply-add would round differently on some platforms.
    const auto spread =
        static_cast<float>(static_cast<double>(static_cast<std::int64_t>(sum) - kMean) * factor);
    return spread + offset;
  });
  state_->add_tensor(name, ops::DataType::kFloat32, shape, count)->set_raw_data(std::move(bytes));
  return {name};
}

Value GraphBuilder::uniform_weight(const std::string& name, const std::vector<std::int64_t>& shape,
                                   double lower, double upper) {
  const std::size_t count = state_->elements_of(name, shape);
  Random random = state_->random.fork(stream_of(name));
  const double step = (upper - lower) * 0x1p-24;
  const auto offset = static_cast<float>(lower);
  std::string bytes = float_bytes(count, [&] {
    const auto spread = static_cast<float>(static_cast<double>(random.next() >> 40) * step);
    return spread + offset;
  });
  state_->add_tensor(name, ops::DataType::kFloat32, shape, count)->set_raw_data(std::move(bytes));
  return {name};
}

Value GraphBuilder::external_weight(const std::string& name, ops::DataType dtype,
                                    const std::vector<std::int64_t>& shape, const std::string& location,
                                    std::int64_t offset) {
  const std::size_t elements = state_->elements_of(name, shape);
  onnx::TensorProto& tensor = *state_->add_tensor(name, dtype, shape, elements);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add_entry = [&tensor](const char* key, std::string value) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  add_entry("location", location);
  add_entry("offset", std::to_string(offset));
  const std::optional<Bytes> length = ops::bytes_of(dtype, static_cast<std::int64_t>(elements));
  add_entry("length", std::to_string(length.value_or(Bytes{}).value));
  return {name};
}

Value GraphBuilder::node(const std::string& op_type, const std::vector<Value>& inputs,
                         const std::vector<Attribute>& attributes, const std::string& name) {
  return nodes(op_type, inputs, 1, attributes, name).front();
}

std::vector<Value> GraphBuilder::nodes(const std::string& op_type, const std::vector<Value>& inputs,
                                       std::size_t outputs, const std::vector<Attribute>& attributes,
                                       const std::string& name, const std::string& domain) {
  onnx::NodeProto& added = *state_->graph().add_node();
  const std::string own = name.empty() ? state_->make_up(op_type) : name;
  added.set_name(own);
  added.set_op_type(op_type);
  if (!domain.empty()) added.set_domain(domain);
  for (const Value& input : inputs) added.add_input(input.name);
  for (const Attribute& attribute : attributes) *added.add_attribute() = as_proto(attribute);
  std::vector<Value> made;
  for (std::size_t i = 0; i < std::max<std::size_t>(outputs, 1); ++i) {
    made.push_back({i == 0 ? own : fmt::format("{}:{}", own, i)});
    state_->claim(made.back().name);
    added.add_output(made.back().name);
  }
  return made;
}

Result<std::string> GraphBuilder::build_bytes() {
  const std::unique_ptr<State> state = std::exchange(state_, std::make_unique<State>(0));
  if (state->mistake) {
    return internal_error(
        fmt::format("building the graph '{}': {}", state->proto.graph().name(), *state->mistake));
  }
  return Model([&] {
           auto representation = std::make_unique<Model::Representation>();
           representation->proto = std::move(state->proto);
           return representation;
         }())
      .serialise();
}

Result<Model> GraphBuilder::build() {
  DEEPGAP_ASSIGN(const std::string bytes, build_bytes());
  return parse_model(bytes, "built graph");
}

}  // namespace deepgap::graph
