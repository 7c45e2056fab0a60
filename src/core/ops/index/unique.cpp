// Unique: the distinct elements (or slices along an axis), where each stands first, which one each element is, and how often.
#include <algorithm>
#include <numeric>

#include "base/types/element.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  Dims dims{product(call.dims(0))};
  std::size_t axis = 0;
  if (call.attributes().has("axis")) {
    dims = call.dims(0);
    axis = static_cast<std::size_t>(call.axis(call.attributes().integer("axis"), call.rank(0)));
  }
  const Dim items = dims[axis], count = call.new_symbol("count", 0, items);
  dims[axis] = count;
  call.out(0, call.dtype(0), std::move(dims));
  call.out(1, DType::i64, {count});
  call.out(2, DType::i64, {items});
  call.out(3, DType::i64, {count});
}

// -1, 0 or 1 as element a comes before, is, or comes after element b.
int compare_elements(const TensorRef& t, std::int64_t a, std::int64_t b) {
  auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (t.dtype == DType::string) return order(t.as<std::string>()[a], t.as<std::string>()[b]);
  if (is_float(t.dtype)) return order(load_double(t.dtype, t.data, a), load_double(t.dtype, t.data, b));
  const std::int64_t x = load_int(t.dtype, t.data, a), y = load_int(t.dtype, t.data, b);
  return t.dtype == DType::u64 ? order(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)) : order(x, y);
}

// The slices along an axis of a tensor, to be compared element by element.
struct Items {
  TensorRef tensor;
  std::int64_t outer = 1, count = 0, inner = 1;
  int compare(std::int64_t a, std::int64_t b) const {
    for (std::int64_t i = 0; i < outer * inner; ++i) {
      const std::int64_t base = i / inner * count * inner + i % inner;
      if (const int order = compare_elements(tensor, base + a * inner, base + b * inner)) return order;
    }
    return 0;
  }
};

// Distinct items by their first place, in the order of the result; `group_of` tells for each item which one it is.
std::vector<std::int64_t> distinct(const Items& items, bool sorted, std::vector<std::int64_t>& group_of) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(items.count)), leader(order.size()), first;
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return items.compare(a, b) < 0; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || items.compare(order[i - 1], order[i]) != 0) first.push_back(order[i]);
    leader[static_cast<std::size_t>(order[i])] = first.back();
  }
  if (!sorted) std::sort(first.begin(), first.end());
  std::vector<std::int64_t> rank(order.size());
  for (std::size_t k = 0; k < first.size(); ++k) rank[static_cast<std::size_t>(first[k])] = static_cast<std::int64_t>(k);
  for (std::int64_t place : leader) group_of.push_back(rank[static_cast<std::size_t>(place)]);
  return first;
}

void reference(Call& call) {
  TensorRef from = call.in[0];
  if (!call.attributes().has("axis")) from.shape = {from.size()};
  const auto axis = static_cast<std::size_t>(ops::wrap_axis(call.attributes().integer("axis", 0), static_cast<int>(from.shape.size())));
  Items items{from};
  items.count = from.shape[axis];
  for (std::size_t d = 0; d < axis; ++d) items.outer *= from.shape[d];
  for (std::size_t d = axis + 1; d < from.shape.size(); ++d) items.inner *= from.shape[d];
  std::vector<std::int64_t> group_of;
  const std::vector<std::int64_t> first = distinct(items, call.attributes().integer("sorted") != 0, group_of);
  const Shape strides = ops::row_major_strides(from.shape);
  ops::IndexMap map;
  for (std::size_t d = 0; d < from.shape.size(); ++d) {
    map.add_dim(d == axis ? 0 : from.shape[d], strides[d]);
    for (std::size_t k = 0; d == axis && k < first.size(); ++k) map.offsets[d].push_back(first[k] * strides[d]);
  }
  const auto count = static_cast<std::int64_t>(first.size());
  ops::set_output_shape(call, 0, map.shape());
  copy(map, from, call.out[0]);
  auto requested = [&](std::size_t i) { return i < call.out.size() && call.out[i].data; };
  if (requested(1)) ops::set_output_shape(call, 1, {count}), std::copy(first.begin(), first.end(), call.out[1].as<std::int64_t>());
  if (requested(2)) std::copy(group_of.begin(), group_of.end(), call.out[2].as<std::int64_t>());
  if (!requested(3)) return;
  ops::set_output_shape(call, 3, {count});
  std::fill_n(call.out[3].as<std::int64_t>(), count, std::int64_t{0});
  for (std::int64_t group : group_of) ++call.out[3].as<std::int64_t>()[group];
}

}  // namespace

OpDef op_unique() {
  return {.name = "Unique",
          .max_outputs = 4,
          .types = "T -> T, i64, i64, i64; T: any",
          .attributes = {{"sorted", 1}},
          .optional_attributes = "axis: int",
          .infer = infer,
          .reference = reference,
          .onnx_since = 11,
          .cases = {"f32[6]{2,1,1,3,4,3} outputs=4", "f32[6]{2,1,1,3,4,3} sorted=0 outputs=4",
                    "i32[3,3]{1,0,0,1,0,0,2,3,4} axis=0 outputs=4", "i8[2,4](0,1) axis=-1 outputs=2"}};
}

}  // namespace tenfold::ir
