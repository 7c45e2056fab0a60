// Transpose: dims in another order; reversed if `perm` is left out. Inference writes `perm` down, so that passes find it.
#include <algorithm>

#include "base/checked.h"
#include "base/threads/spread.h"
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

Ints order_of(const Attributes& attributes, int rank) {
  Ints order;
  if (attributes.has("perm")) return attributes.ints("perm");
  for (int d = rank; d-- > 0;) order.push_back(d);
  return order;
}

ops::IndexMap map_of(const Ints& order, const Shape& shape) {
  const Shape strides = ops::row_major_strides(shape);
  ops::IndexMap map;
  for (std::int64_t d : order) map.add_dim(shape[static_cast<std::size_t>(d)], strides[static_cast<std::size_t>(d)]);
  return map;
}

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  const Ints order = order_of(call.attributes(), call.rank(0));
  call.check_shape(order.size() == dims.size(), "perm has ", order.size(), " entries, the input has rank ", dims.size());
  std::vector<bool> seen(dims.size());
  Dims moved;
  for (std::int64_t d : order) {
    call.check_shape(d >= 0 && d < call.rank(0), "perm has ", d, ", the input has rank ", call.rank(0));
    call.validate(!seen[static_cast<std::size_t>(d)], "perm has ", d, " twice");
    seen[static_cast<std::size_t>(d)] = true;
    moved.push_back(dims[static_cast<std::size_t>(d)]);
  }
  call.edit_attributes().set("perm", order);
  call.out(0, call.dtype(0), std::move(moved));
  const auto shape = ops::constant_shape(dims);
  if (const Dims* contents = call.contents(0); contents && shape) call.out_contents(0, pick(map_of(order, *shape), *contents));
}

// Do only the last two dims change places, as those of a weight?
bool swaps_last(const Ints& order) {
  const auto rank = static_cast<std::int64_t>(order.size());
  for (std::int64_t d = 0; d + 2 < rank; ++d)
    if (order[static_cast<std::size_t>(d)] != d) return false;
  return rank >= 2 && order[static_cast<std::size_t>(rank) - 1] == rank - 2;
}

// By tiles, so that both sides use whole lines of the cache: a model's weights go through here.
template <class T>
void swap_last(const TensorRef& x, const TensorRef& y) {
  constexpr std::int64_t kTile = 32;
  const std::int64_t rows = x.shape[x.shape.size() - 2], columns = x.shape.back();
  if (x.size() == 0) return;
  const std::int64_t bands = ceil_div(rows, kTile), all = x.size() / (rows * columns) * bands;   // of a matrix, of all of them
  spread_stretches(all, 1, 2 * x.size() * std::int64_t{sizeof(T)}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t band = begin; band < end; ++band) {
      const T* from = x.as<T>() + band / bands * rows * columns;
      T* to = y.as<T>() + band / bands * rows * columns;
      const std::int64_t first = band % bands * kTile, last = std::min(rows, first + kTile);
      for (std::int64_t c = 0; c < columns; c += kTile)
        for (std::int64_t column = c; column < std::min(columns, c + kTile); ++column)
          for (std::int64_t row = first; row < last; ++row) to[column * rows + row] = from[row * columns + column];
    }
  });
}

void reference(Call& call) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  const Ints order = order_of(call.attributes(), static_cast<int>(from.shape.size()));
  const int width = from.dtype == DType::string || !swaps_last(order) ? 0 : bits(from.dtype);
  if (width == 8) return swap_last<std::uint8_t>(from, to);
  if (width == 16) return swap_last<std::uint16_t>(from, to);
  if (width == 32) return swap_last<std::uint32_t>(from, to);
  if (width == 64) return swap_last<std::uint64_t>(from, to);
  copy(map_of(order, from.shape), from, to);
}

}  // namespace

OpDef op_transpose() {
  return {.name = "Transpose",
          .types = "T -> T; T: any",
          .optional_attributes = "perm: ints",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::transpose, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[2,3,4]", "f32[2,3,4] perm=[0,2,1]", "f16[2,3,4,5] perm=[0,2,1,3]", "i4[3,5]", "i8[1,2,3,4] perm=[0,3,1,2]",
                    "f32[2,0,4] perm=[1,2,0]", "f32[]", "bf16[2,21,37] perm=[0,2,1]", "bf16[3,5,40] perm=[2,1,0]",
                    "f32[67,130]", "u8[2,3,33,40] perm=[0,1,3,2]", "f64[3,70,2] perm=[0,2,1]"}};
}

}  // namespace tenfold::ir
