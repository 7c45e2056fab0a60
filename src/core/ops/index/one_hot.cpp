// OneHot: a new axis of extent `depth` that holds the on-value at each index and the off-value elsewhere.
#include "base/types/element.h"
#include "ops/dim_rules.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dim values = product(call.dims(2));
  call.check_shape(!values.is_constant() || values == Dim(2), "values has ", values.text(), " elements, 2 expected");
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0) + 1);
  const ops::MaybeDim depth = ops::scalar_contents(call, 1);
  call.check_shape(!depth.known || !depth.value.is_constant() || depth.value.constant() >= 0, "depth is ", depth.value.text());
  Dims dims = call.dims(0);
  dims.insert(dims.begin() + axis, depth.known ? depth.value : call.new_symbol("depth", 0, kUnbounded));
  call.out(0, call.dtype(2), std::move(dims));
}

void reference(Call& call) {
  const TensorRef &indices = call.in[0], &values = call.in[2];
  call.check_shape(values.size() == 2, "values has ", values.size(), " elements, 2 expected");
  const auto axis = static_cast<std::size_t>(ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(indices.shape.size()) + 1));
  const std::int64_t depth = ops::read_ints(call.in[1]).at(0);
  Shape shape = indices.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  ops::set_output_shape(call, 0, shape);
  ops::fill_elements(call.out[0], values.data, 0);
  const std::int64_t inner = ops::row_major_strides(shape)[axis];
  for (std::int64_t i = 0; i < indices.size(); ++i) {
    std::int64_t index = load_int(indices.dtype, indices.data, i);
    if (index < 0) index += depth;
    if (index < 0 || index >= depth) continue;   // as ONNX has it: nothing is on
    ops::move_elements(values.dtype, values.data, 1, call.out[0].data, (i / inner * depth + index) * inner + i % inner, 1);
  }
}

}  // namespace

OpDef op_one_hot() {
  return {.name = "OneHot",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "number, number, T -> T; T: any",
          .attributes = {{"axis", -1}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 9,
          .cases = {"i64[3]{0,2,-1} i64[]{4} f32[2]{0,1}", "i32[2,2]{1,9,2,4} i64[1]{5} i8[2]{3,-3} axis=1",
                    "f32[2]{0,3} f32[]{4} f16[2]{0.5,2} axis=0"}};
}

}  // namespace tenfold::ir
