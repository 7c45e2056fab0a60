// Gather: slices along an axis, chosen by a tensor of indices whose dims replace that axis.
#include "ir/fault.h"
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

// The dims of the indices count as one here: their elements follow each other.
ops::IndexMap map_of(const Shape& shape, int axis, const Ints& indices) {
  const Shape strides = ops::row_major_strides(shape);
  ops::IndexMap map;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int>(d) != axis) {
      map.add_dim(shape[d], strides[d]);
    } else {
      map.offsets.push_back(indices);
      for (std::int64_t& offset : map.offsets.back()) offset *= strides[d];
    }
  }
  return map;
}

void infer_contents(InferCall& call, int axis, const Dims& result) {
  const auto shape = ops::constant_shape(call.dims(0));
  if (!call.contents(0) || !call.contents(1) || !shape || !is_constant(*call.contents(1)) || !ops::constant_shape(result)) return;
  Ints indices = constants(*call.contents(1));
  const std::int64_t extent = (*shape)[static_cast<std::size_t>(axis)];
  for (std::int64_t& index : indices) {
    call.check_index(index >= -extent && index < extent, "index ", index, " is outside [", -extent, ", ", extent, ")");
    if (index < 0) index += extent;
  }
  call.out_contents(0, pick(map_of(*shape, axis, indices), *call.contents(0)));
}

void infer(InferCall& call) {
  const Dims& data = call.dims(0);
  const int axis = call.axis(call.attributes().integer("axis"), call.rank(0));
  Dims dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), call.dims(1).begin(), call.dims(1).end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  call.out(0, call.dtype(0), dims);
  infer_contents(call, axis, dims);
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  const int axis = ops::wrap_axis(call.attributes().integer("axis"), static_cast<int>(from.shape.size()));
  Ints indices = ops::read_ints(call.in[1]);
  for (std::int64_t& index : indices) index = ops::wrap_index(call, 1, index, from.shape[static_cast<std::size_t>(axis)]);
  copy(map_of(from.shape, axis, indices), from, call.out[0]);
}

}  // namespace

OpDef op_gather() {
  return {.name = "Gather",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .attributes = {{"axis", 0}},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[5,4] i64[3]{0,4,-1}", "f32[3,5,2] i32[2,2]{1,-5,4,0} axis=1", "f16[10,8] i64[2,3](0,9)",
                    "i4[4,3] i64[]{2} axis=-1", "f32[4,2] i64[0]{}"}};
}

}  // namespace tenfold::ir
