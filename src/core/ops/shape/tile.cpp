// Tile: the whole tensor repeated along each dim.
#include "base/checked.h"
#include "ops/dim_rules.h"
#include "ops/index_map.h"

namespace tenfold::ir {
namespace {

ops::IndexMap map_of(const Shape& from, const Shape& to) {
  const Shape strides = ops::row_major_strides(from);
  ops::IndexMap map;
  for (std::size_t d = 0; d < to.size(); ++d) {
    map.add_dim(to[d], 0);
    for (std::int64_t i = 0; i < to[d]; ++i) map.offsets[d][static_cast<std::size_t>(i)] = i % from[d] * strides[d];
  }
  return map;
}

void infer(InferCall& call) {
  Dims dims = call.dims(0);
  const Dims* repeats = call.contents(1);
  const int count = repeats ? static_cast<int>(repeats->size()) : ops::need_length(call, 1, "repeats");
  call.check_shape(count == call.rank(0), "repeats has ", count, " entries, the input has rank ", call.rank(0));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (repeats)
      call.check_shape(!(*repeats)[d].is_constant() || (*repeats)[d].constant() >= 0, "repeat ", (*repeats)[d].text(), " is negative");
    dims[d] = repeats ? dims[d] * (*repeats)[d] : call.new_symbol(cat("extent", d), 0, kUnbounded);
  }
  call.out(0, call.dtype(0), dims);
  const auto to = ops::constant_shape(dims), from = ops::constant_shape(call.dims(0));
  if (const Dims* contents = call.contents(0); contents && to && from) call.out_contents(0, pick(map_of(*from, *to), *contents));
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  Shape shape = from.shape;
  const Ints repeats = ops::read_ints(call.in[1]);
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = checked_mul(shape[d], repeats.at(d));
  ops::set_output_shape(call, 0, shape);
  if (call.out[0].size() == 0) return;
  copy(map_of(from.shape, shape), from, call.out[0]);
}

}  // namespace

OpDef op_tile() {
  return {.name = "Tile",
          .min_inputs = 2,
          .max_inputs = 2,
          .types = "T, int -> T; T: any",
          .attributes = {},
          .infer = infer,
          .reference = reference,
          .traits = {.movement = Movement::other},
          .cases = {"f32[2,3] i64[2]{2,1}", "f32[2,3,4] i64[3]{1,3,2}", "i4[3] i64[1]{3}", "f32[2] i64[1]{0}", "f16[1,4] i64[2]{5,1}"}};
}

}  // namespace tenfold::ir
