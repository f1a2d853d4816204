// Output shapes of ATen calls that no rule of their own gives: what moves, selects, fills and reduces. Traces
// record inputs alone.
#include "ops/shape_aten.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "ops/count.h"

namespace deepgap::ops {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Counted from the end where negative.
std::optional<std::size_t> place_of(std::int64_t dim, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (dim < -size || dim >= size) return std::nullopt;
  return static_cast<std::size_t>(dim < 0 ? dim + size : dim);
}

class Call {
 public:
  explicit Call(const OpSignature& op) : op_(op), name_(aten_base_name(op.name)) {}

  const Shape* dims(std::size_t i) const {
    return i < op_.inputs.size() && op_.inputs[i].present && op_.inputs[i].dims ? &*op_.inputs[i].dims
                                                                                : nullptr;
  }

  std::optional<Shape> moved() const {
    if (is_one_of(name_, {"cat", "concat", "concatenate", "_cat"})) return joined();
    if (name_ == "stack") return stacked();
    if (is_one_of(name_,
                  {"constant_pad_nd", "pad", "reflection_pad1d", "reflection_pad2d", "replication_pad2d"}))
      return padded();
    if (name_ == "repeat") return repeated();
    return is_one_of(name_, {"clone", "contiguous", "copy", "flip", "roll", "tril", "triu", "pin_memory",
                             "_pin_memory", "channel_shuffle"})
               ? first()
               : std::nullopt;
  }

  std::optional<Shape> filled() const {
    if (const auto* size = op_.find_integers({"size"})) return *size;
    const bool in_place = op_.name.ends_with('_') || name_.ends_with("_like");
    return in_place ? first() : std::nullopt;
  }

  std::optional<Shape> selected() const {
    const Shape* data = dims(0);
    if (data == nullptr) return std::nullopt;
    if (name_ == "embedding") {
      const Shape* indices = dims(1);
      if (indices == nullptr || data->size() != 2) return std::nullopt;
      Shape shape = *indices;
      shape.push_back(data->back());
      return shape;
    }
    if (name_ == "gather") return dims(2) != nullptr ? std::optional(*dims(2)) : std::nullopt;
    if (name_ == "take" || name_ == "take_along_dim")
      return dims(1) != nullptr ? std::optional(*dims(1)) : std::nullopt;
    if (name_ != "index_select" || dims(2) == nullptr) return std::nullopt;
    const auto* dim = op_.find_integers({"dim"});
    const auto count = product(*dims(2));
    if (dim == nullptr || dim->size() != 1 || !count) return std::nullopt;
    const auto place = place_of(dim->front(), data->size());
    if (!place) return std::nullopt;
    Shape shape = *data;
    shape[*place] = *count;
    return shape;
  }

  // An empty list of dimensions is all of them.
  std::optional<Shape> reduced() const {
    const Shape* data = dims(0);
    const auto* dims = op_.find_integers({"dim"});
    if (data == nullptr || dims == nullptr || !op_.integers.contains("keepdim")) return std::nullopt;
    std::vector<bool> gone(data->size(), dims->empty());
    for (const std::int64_t dim : *dims) {
      const auto place = place_of(dim, data->size());
      if (!place) return std::nullopt;
      gone[*place] = true;
    }
    const bool keep = op_.integer({"keepdim"}, 0) != 0;
    Shape shape;
    for (std::size_t i = 0; i < data->size(); ++i) {
      if (!gone[i]) shape.push_back((*data)[i]);
      if (gone[i] && keep) shape.push_back(1);
    }
    return shape;
  }

  // The size of the last dimensions is given: adaptive pooling, interpolation.
  std::optional<Shape> resized() const {
    const Shape* data = dims(0);
    const auto* size = op_.find_integers({"output_size"});
    if (data == nullptr || size == nullptr || size->empty() || size->size() > data->size())
      return std::nullopt;
    Shape shape(data->begin(), data->end() - static_cast<std::ptrdiff_t>(size->size()));
    shape.insert(shape.end(), size->begin(), size->end());
    return shape;
  }

  std::optional<Shape> first() const { return dims(0) != nullptr ? std::optional(*dims(0)) : std::nullopt; }

 private:
  std::optional<Shape> joined() const {
    const auto* dim = op_.find_integers({"dim"});
    std::optional<Shape> shape;
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) {
      if (!op_.inputs[i].present) continue;
      const Shape* each = dims(i);
      if (each == nullptr) return std::nullopt;
      if (each->size() == 1 && each->front() == 0) continue;  // is left out, whatever the others are
      if (!shape) {
        shape = *each;
        continue;
      }
      const auto place = place_of(dim == nullptr || dim->empty() ? 0 : dim->front(), shape->size());
      if (!place || each->size() != shape->size()) return std::nullopt;
      const Count extent = sum({Count{(*shape)[*place]}, Count{(*each)[*place]}});
      if (!extent) return std::nullopt;
      (*shape)[*place] = *extent;
    }
    return shape;
  }

  std::optional<Shape> stacked() const {
    const Shape* data = dims(0);
    if (data == nullptr) return std::nullopt;
    const auto place = place_of(op_.integer({"dim"}, 0), data->size() + 1);
    if (!place) return std::nullopt;
    const auto count = std::count_if(op_.inputs.begin(), op_.inputs.end(),
                                     [](const TensorShape& input) { return input.present; });
    Shape shape = *data;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*place), count);
    return shape;
  }

  // Pairs, the last dimension first.
  std::optional<Shape> padded() const {
    const Shape* data = dims(0);
    const auto* pad = op_.find_integers({"pad"});
    if (data == nullptr || pad == nullptr || pad->size() % 2 != 0 || pad->size() > 2 * data->size())
      return std::nullopt;
    Shape shape = *data;
    for (std::size_t i = 0; i < pad->size(); i += 2) {
      std::int64_t& extent = shape[shape.size() - 1 - i / 2];
      if (__builtin_add_overflow(extent, (*pad)[i], &extent) ||
          __builtin_add_overflow(extent, (*pad)[i + 1], &extent)) {
        return std::nullopt;
      }
    }
    return shape;
  }

  std::optional<Shape> repeated() const {
    const Shape* data = dims(0);
    const auto* repeats = op_.find_integers({"repeats"});
    if (data == nullptr || repeats == nullptr || repeats->size() < data->size()) return std::nullopt;
    Shape shape = *repeats;
    for (std::size_t i = 0; i < data->size(); ++i) {
      std::int64_t& extent = shape[shape.size() - 1 - i];
      const Count product_of = product({Count{extent}, Count{(*data)[data->size() - 1 - i]}});
      if (!product_of) return std::nullopt;
      extent = *product_of;
    }
    return shape;
  }

  const OpSignature& op_;
  std::string_view name_;
};

}  // namespace

std::optional<Shape> aten_output(const OpSignature& op, CostRule rule) {
  const Call call(op);
  switch (rule) {
    case CostRule::kMove:
      return call.moved();
    case CostRule::kFill:
      return call.filled();
    case CostRule::kSelect:
      return call.selected();
    case CostRule::kScatter:
      return call.first();
    case CostRule::kReduction:
      return call.reduced();
    case CostRule::kGlobalPooling:
    case CostRule::kResize:
      return call.resized();
    default:
      return std::nullopt;
  }
}

}  // namespace deepgap::ops
