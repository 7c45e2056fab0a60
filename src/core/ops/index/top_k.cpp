// TopK: the k largest or smallest values along an axis and where they stand. Of equal values the one that stands first comes first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/types/element.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  Dims dims = call.dims(0);
  Dim& extent = dims[static_cast<std::size_t>(axis)];
  const ops::MaybeDim k = ops::scalar_contents(call, 1);
  const Dim rest = extent - k.value;
  call.check_shape(!k.known || !k.value.is_constant() || k.value.constant() >= 0, "k is ", k.value.text());
  call.check_shape(!k.known || !rest.is_constant() || rest.constant() >= 0, "k is ", k.value.text(), ", the axis has only ", extent.text(),
            " elements");
  extent = k.known ? k.value : call.new_symbol("k", 0, extent);
  call.out(0, call.dtype(0), dims);
  call.out(1, DType::i64, dims);
}

// A total order for every type: NaN above all numbers, unsigned 64-bit values shifted into the signed range.
struct Keys {
  std::vector<double> real;
  std::vector<std::int64_t> whole;
  bool is_real;

  Keys(const TensorRef& from, std::int64_t first, std::int64_t stride, std::int64_t count) : is_real(is_float(from.dtype)) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = first + i * stride;
      if (is_real) {
        real.push_back(load_double(from.dtype, from.data, at));
      } else {
        const auto bits = static_cast<std::uint64_t>(load_int(from.dtype, from.data, at));
        whole.push_back(static_cast<std::int64_t>(from.dtype == DType::u64 ? bits ^ (std::uint64_t{1} << 63) : bits));
      }
    }
  }
  bool less(std::size_t a, std::size_t b) const {
    if (!is_real) return whole[a] < whole[b];
    return real[a] < real[b] || (std::isnan(real[b]) && !std::isnan(real[a]));
  }
};

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const auto axis = static_cast<std::size_t>(ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(from.shape.size())));
  call.check_shape(call.in[1].size() == 1, "k is no single number");
  const std::int64_t k = ops::read_ints(call.in[1]).at(0), extent = from.shape[axis];
  call.check_shape(k >= 0 && k <= extent, "k is ", k, ", the axis has ", extent, " elements");
  Shape shape = from.shape;
  shape[axis] = k;
  for (int i = 0; i < 2; ++i) ops::set_output_shape(call, i, shape);
  const bool largest = call.attributes().integer("largest") != 0;
  const std::int64_t inner = ops::row_major_strides(from.shape)[axis], rows = extent ? from.size() / extent : 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t outer = row / inner, column = row % inner, first = outer * extent * inner + column;
    const Keys keys(from, first, inner, extent);
    std::vector<std::size_t> order(static_cast<std::size_t>(extent));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return largest ? keys.less(b, a) : keys.less(a, b); });
    for (std::int64_t i = 0; i < k; ++i) {
      const auto source = static_cast<std::int64_t>(order[static_cast<std::size_t>(i)]);
      const std::int64_t target = (outer * k + i) * inner + column;
      ops::move_elements(from.dtype, from.data, first + source * inner, call.out[0].data, target, 1);
      call.out[1].as<std::int64_t>()[target] = source;
    }
  }
}

}  // namespace

OpDef op_top_k() {
  return {.name = "TopK", .min_inputs = 2, .max_inputs = 2, .min_outputs = 2, .max_outputs = 2,
          .types = "T, int -> T, i64; T: number",
          .attributes = {{"axis", -1}, {"largest", 1}, {"sorted", 1}}, .infer = infer, .reference = reference,
          .cases = {"f32[3,8] i64[1]{3}", "f32[4,3,2] i64[1]{2} axis=0 largest=0", "i32[2,9] i64[1]{9} axis=1", "f16[16] i64[1]{1}",
                    "f32[2,3] i64[1]{0}"}};
}

}  // namespace tenfold::ir
