// ScatterElements: a copy of the data in which each update has been put at its own place, with the index along one axis replaced.
#include "ir/fault.h"
#include "ops/index/index_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  ops::expect_reduction(call);
  call.axis(call.attributes().integer("axis"), call.rank(0));
  call.check_shape(call.rank(1) == call.rank(0) && call.rank(2) == call.rank(0), "data, indices and updates have ranks ", call.rank(0),
                   ", ", call.rank(1), " and ", call.rank(2), ", which have to be equal");
  call.out(0, call.dtype(0), call.dims(0));
}

void reference(Call& call) {
  const TensorRef &to = call.out[0], &updates = call.in[2];
  call.check_shape(updates.shape == call.in[1].shape, "indices have shape ", text(call.in[1].shape), ", updates ", text(updates.shape));
  ops::copy_whole(call);
  const ops::Reduction reduction = ops::reduction_of(call.attributes());
  const Ints indices = ops::read_ints(call.in[1]);
  const Shape strides = ops::row_major_strides(to.shape);
  const auto axis = static_cast<std::size_t>(ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(to.shape.size())));
  for (std::size_t d = 0; d < to.shape.size(); ++d)
    call.check_shape(d == axis || updates.shape[d] <= to.shape[d], "updates are larger than the data in dim ", d);
  ops::for_each_index(updates.shape, [&](const Shape& index, std::int64_t i) {
    std::int64_t target = ops::wrap_index(call, 1, indices[static_cast<std::size_t>(i)], to.shape[axis]) * strides[axis];
    for (std::size_t d = 0; d < index.size(); ++d) target += d == axis ? 0 : index[d] * strides[d];
    ops::combine(reduction, to.dtype, to.data, target, updates.data, i);
  });
}

}  // namespace

OpDef op_scatter_elements() {
  return {.name = "ScatterElements",
          .min_inputs = 3,
          .max_inputs = 3,
          .types = "T, int, T -> T; T: any",
          .attributes = {{"axis", 0}, {"reduction", "none"}},
          .infer = infer,
          .reference = reference,
          .onnx_since = 11,
          .cases = {"f32[3,3] i64[2,3]{1,0,2,0,2,1} f32[2,3]", "f32[1,5] i64[1,2]{1,-2} f32[1,2] axis=1",
                    "f32[1,5] i64[1,3]{1,1,3} f32[1,3] axis=1 reduction=\"add\"", "i32[5] i32[3]{0,0,4} i32[3] reduction=\"mul\"",
                    "f16[4] i64[4]{0,0,1,1} f16[4] reduction=\"max\"", "u8[4] i64[3]{2,2,1} u8[3] reduction=\"min\""}};
}

}  // namespace tenfold::ir
