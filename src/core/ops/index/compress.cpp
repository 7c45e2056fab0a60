// Compress: the slices along an axis (or the elements, without one) whose condition is true. Their number depends on the data.
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.check_shape(call.rank(1) == 1, "the condition has rank ", call.rank(1), ", 1 expected");
  if (!call.attributes().has("axis")) {
    return call.out(0, call.dtype(0), {call.new_symbol("count", 0, product(call.dims(0)))});
  }
  Dims dims = call.dims(0);
  Dim& extent = dims[static_cast<std::size_t>(call.axis(call.attributes().integer("axis"), call.rank(0)))];
  extent = call.new_symbol("count", 0, extent);
  call.out(0, call.dtype(0), std::move(dims));
}

void reference(Call& call) {
  TensorRef from = call.in[0];
  if (!call.attributes().has("axis")) from.shape = {from.size()};
  const Shape strides = ops::row_major_strides(from.shape);
  const int axis = ops::wrap_axis(call.attributes().integer("axis", 0), static_cast<int>(from.shape.size()));
  const Ints conditions = ops::read_ints(call.in[1]);
  ops::IndexMap map;
  for (std::size_t d = 0; d < from.shape.size(); ++d) {
    map.add_dim(static_cast<int>(d) == axis ? 0 : from.shape[d], strides[d]);
    if (static_cast<int>(d) != axis) continue;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      if (!conditions[i]) continue;
      map.offsets[d].push_back(ops::wrap_index(call, 1, static_cast<std::int64_t>(i), from.shape[d]) * strides[d]);
    }
  }
  ops::set_output_shape(call, 0, map.shape());
  copy(map, from, call.out[0]);
}

}  // namespace

OpDef op_compress() {
  return {.name = "Compress",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, bool -> T; T: any",
          .attributes = {},
          .optional_attributes = "axis: int",
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .onnx_since = 9,
          .cases = {"f32[3,2] bool[3]{0,1,1} axis=0", "f32[3,2] bool[2]{0,1} axis=-1", "f16[3,2] bool[5]{0,1,0,0,1}",
                    "f32[3] bool[3]{0,0,0} axis=0"},
          .on_host = "the host needs the size of the result"};
}

}  // namespace tenfold::ir
