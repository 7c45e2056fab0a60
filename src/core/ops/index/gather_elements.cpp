// GatherElements: each result element is taken from its own place, with the index along one axis replaced.
#include "ir/fault.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(1) == call.rank(0), "indices have rank ", call.rank(1), ", data has ", call.rank(0));
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  for (int d = 0; d < call.rank(0); ++d) {
    const Dim surplus = call.dims(1)[static_cast<std::size_t>(d)] - call.dims(0)[static_cast<std::size_t>(d)];
    call.check_shape(d == axis || !surplus.is_constant() || surplus.constant() <= 0, "indices are larger than the data in dim ", d);
  }
  call.out(0, call.dtype(0), call.dims(1));
}

void reference(Call& call) {
  const TensorRef &from = call.in[0], &to = call.out[0];
  const Ints indices = ops::read_ints(call.in[1]);
  const Shape strides = ops::row_major_strides(from.shape);
  const auto axis = static_cast<std::size_t>(ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(from.shape.size())));
  for (std::size_t d = 0; d < from.shape.size(); ++d)
    call.check_shape(d == axis || call.in[1].shape[d] <= from.shape[d], "indices are larger than the data in dim ", d);
  ops::for_each_index(call.in[1].shape, [&](const Shape& index, std::int64_t i) {
    std::int64_t source = ops::wrap_index(call, 1, indices[static_cast<std::size_t>(i)], from.shape[axis]) * strides[axis];
    for (std::size_t d = 0; d < index.size(); ++d) source += d == axis ? 0 : index[d] * strides[d];
    ops::move_elements(from.dtype, from.data, source, to.data, i, 1);
  });
}

}  // namespace

OpDef op_gather_elements() {
  return {.name = "GatherElements",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .attributes = {{"axis", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .onnx_since = 11,
          .cases = {"f32[3,3] i64[2,3]{1,2,0,2,0,-3}", "f32[2,2] i32[2,3]{0,-1,0,1,1,0} axis=1", "i8[4] i64[6](-4,3)"}};
}

}  // namespace tenfold::ir
