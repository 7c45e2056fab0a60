// Expand: repeats dims of extent 1 as numpy's broadcast of the input's shape with operand 1 does.
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

ops::IndexMap map_of(const Shape& from, const Shape& to) {
  const Shape strides = ops::row_major_strides(from);
  const std::size_t added = to.size() - from.size();
  ops::IndexMap map;
  for (std::size_t d = 0; d < to.size(); ++d) map.add_dim(to[d], d < added || from[d - added] == 1 ? 0 : strides[d - added]);
  return map;
}

// Without the contents, only extents that cannot grow are known.
Dims unknown_shape(InferCall& call) {
  const Dims& from = call.dims(0);
  const auto rank = std::max(from.size(), static_cast<std::size_t>(ops::need_length(call, 1, "shape")));
  Dims dims(rank, Dim(1));
  for (std::size_t d = 0; d < rank; ++d) {
    const Dim old = d < rank - from.size() ? Dim(1) : from[d - (rank - from.size())];
    dims[d] = old.is_constant() && old != Dim(1) ? old : call.new_symbol(cat("extent", d), 0, kUnbounded);
  }
  return dims;
}

void infer(InferCall& call) {
  const Dims* shape = call.contents(1);
  for (std::size_t i = 0; shape && i < shape->size(); ++i)
    call.check_shape(!(*shape)[i].is_constant() || (*shape)[i].constant() >= 0, "extent ", (*shape)[i].text(), " in the shape is negative");
  const Dims dims = shape ? broadcast(call.dims(0), *shape) : unknown_shape(call);
  call.out(0, call.dtype(0), dims);
  const auto to = ops::constant_shape(dims);
  if (const Dims* contents = call.contents(0); contents && to) call.out_contents(0, pick(map_of(constants(call.dims(0)), *to), *contents));
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  ops::set_output_shape(call, 0, constants(broadcast(to_dims(from.shape), to_dims(ops::read_ints(call.in[1])))));
  if (call.out[0].size() == 0) return;
  copy(map_of(from.shape, call.out[0].shape), from, call.out[0]);
}

}  // namespace

OpDef op_expand() {
  return {.name = "Expand",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .attributes = {},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::expand, .narrows = true},
          .onnx_since = 8,
          .cases = {"f32[3,1] i64[2]{3,4}", "f32[3,1] i64[3]{2,1,6}", "f32[] i64[2]{2,3}", "i8[2,3] i64[1]{1}", "u4[3,1] i64[2]{1,3}",
                    "f32[1,2] i64[2]{0,1}", "bf16[3,1] i64[2]{3,35}"}};
}

}  // namespace tenfold::ir
