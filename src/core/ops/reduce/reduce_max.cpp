// ReduceMax: the largest element over some dims; NaN wins.
#include <limits>

#include "ops/body_prims.h"
#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

double real(std::span<const double> elements) {
  double result = -std::numeric_limits<double>::infinity();
  for (const double x : elements) result = ops::real_binary(Prim::max, result, x);
  return result;
}
std::int64_t whole(DType type, std::span<const std::int64_t> elements) {
  std::int64_t result = ops::min_integer(type);
  for (const std::int64_t x : elements) result = ops::whole_binary(Prim::max, type, result, x);
  return result;
}

void reference(Call& call) { reduce(call, {real, whole}); }

}  // namespace

OpDef op_reduce_max() {
  return reduction("ReduceMax", ReductionKind::max, reference,
                   {"f32[2,3,5] axes=[1]", "f32[2,3,5] axes=[-1,0] keepdims=0", "f32[4,7]", "f32[]",
                    "f32[2,0,3] axes=[1]", "f32[0,3] axes=[1]", "f16[3,9] axes=[1]", "f64[2,3] axes=[0]",
                    "i64[4,3] axes=[0]", "i32[2,3,4] axes=[0,2] keepdims=0", "f32[2,3] noop_with_empty_axes=1",
                    "bool[3,5] axes=[1]", "u8[3,5] axes=[0]", "bf16[3,70] axes=[1]",
                    "bf16[2,5,37] axes=[1]"});
}

}  // namespace tenfold::ir
