// Transpose: dims in another order; reversed if `perm` is left out. Inference writes `perm` down, so that passes find it.
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

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  copy(map_of(order_of(call.attributes(), static_cast<int>(from.shape.size())), from.shape), from, call.out[0]);
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
                    "f32[2,0,4] perm=[1,2,0]", "f32[]", "bf16[2,21,37] perm=[0,2,1]", "bf16[3,5,40] perm=[2,1,0]"}};
}

}  // namespace tenfold::ir
