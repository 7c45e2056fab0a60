// NonZero: the indices of all elements that are not zero, one row for each dim. Their number depends on the data.
#include "base/types/element.h"
#include "ops/elements.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  call.out(0, DType::i64, {call.rank(0), call.new_symbol("count", 0, product(call.dims(0)))});
}

void reference(Call& call) {
  const TensorRef& from = call.in[0];
  auto is_set = [&](std::int64_t i) { return load_double(from.dtype, from.data, i) != 0; };
  std::int64_t count = 0, found = 0;
  for (std::int64_t i = 0; i < from.size(); ++i) count += is_set(i);
  ops::set_output_shape(call, 0, {static_cast<std::int64_t>(from.shape.size()), count});
  ops::for_each_index(from.shape, [&](const Shape& index, std::int64_t i) {
    if (!is_set(i)) return;
    for (std::size_t d = 0; d < index.size(); ++d) call.out[0].as<std::int64_t>()[static_cast<std::int64_t>(d) * count + found] = index[d];
    ++found;
  });
}

}  // namespace

OpDef op_non_zero() {
  return {.name = "NonZero", .types = "dense -> i64", .infer = infer, .reference = reference, .onnx_since = 9,
          .cases = {"bool[2,2]{1,0,1,1}", "f32[2,3]{0,1,0,-2,0,0.5}", "i8[4]{0,0,0,0}", "i64[2,2,2](0,1)"}};
}

}  // namespace tenfold::ir
