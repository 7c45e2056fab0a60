// Shape: the extents of a tensor, from dim `start` up to but not including dim `end`.
#include <algorithm>

#include "ops/elements.h"

namespace tenfold::ir {
namespace {

struct Range { std::int64_t first, last; };

Range range_of(const Attributes& attributes, std::int64_t rank) {
  auto clamp = [rank](std::int64_t index) { return std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank); };
  const std::int64_t first = clamp(attributes.integer("start"));
  return {first, std::max(first, clamp(attributes.integer("end", rank)))};
}

void infer(InferCall& call) {
  const Dims& dims = call.dims(0);
  const Range range = range_of(call.attributes(), call.rank(0));
  call.out(0, DType::i64, {range.last - range.first});
  call.out_contents(0, Dims(dims.begin() + range.first, dims.begin() + range.last));
}

void reference(Call& call) {
  const Shape& shape = call.in[0].shape;
  const Range range = range_of(call.attributes(), static_cast<std::int64_t>(shape.size()));
  std::copy(shape.begin() + range.first, shape.begin() + range.last, call.out[0].as<std::int64_t>());
}

}  // namespace

OpDef op_shape() {
  return {.name = "Shape",
          .types = "any -> i64",
          .attributes = {{"start", 0}},
          .optional_attributes = "end: int",
          .infer = infer,
          .reference = reference,
          .onnx_since = 1,
          .cases = {"f32[2,3,4]", "f32[]", "i8[2,3,4] start=1", "f32[2,0,4] start=-2 end=-1", "f32[2,3] start=5 end=1"}};
}

}  // namespace tenfold::ir
