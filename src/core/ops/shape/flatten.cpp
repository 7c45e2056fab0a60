// Flatten: a matrix whose rows are the dims before `axis` and whose columns are the rest.
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  const std::int64_t value = call.attributes().integer("axis"), rank = call.rank(0);
  call.check_shape(value >= -rank && value <= rank, "axis ", value, " is outside [", -rank, ", ", rank, "]");
  const auto axis = static_cast<std::size_t>(value < 0 ? value + rank : value);
  call.out(0, call.dtype(0), {product(std::span(dims).first(axis)), product(std::span(dims).subspan(axis))});
  if (const Dims* contents = call.contents(0)) call.out_contents(0, *contents);
}

}  // namespace

OpDef op_flatten() {
  return {.name = "Flatten",
          .types = "T -> T; T: any",
          .attributes = {{"axis", 1}},
          .infer = infer,
          .reference = ops::copy_whole,
          .traits = {.movement = Movement::reshape, .narrows = true},
          .onnx_since = 1,
          .cases = {"f32[2,3,4]", "f32[2,3,4] axis=0", "f16[2,3,4] axis=3", "f32[2,3,4,5] axis=-2", "f32[] axis=0"}};
}

}  // namespace tenfold::ir
