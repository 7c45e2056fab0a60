// ReduceL1: the sum of magnitudes over some dims.
#include <cmath>

#include "ops/body_prims.h"
#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

double real(std::span<const double> elements) {
  double sum = 0;
  for (const double x : elements) sum += std::fabs(x);
  return sum;
}
std::int64_t whole(DType type, std::span<const std::int64_t> elements) {
  std::uint64_t sum = 0;   // wraps
  for (const std::int64_t x : elements) sum += static_cast<std::uint64_t>(ops::whole_unary(Prim::abs, type, x));
  return static_cast<std::int64_t>(sum);
}

void reference(Call& call) { reduce(call, {real, whole}); }

}  // namespace

OpDef op_reduce_l1() {
  return reduction("ReduceL1", ReductionKind::absolutes, reference,
                   {"f32[2,3,5] axes=[1]", "f32[2,3,5] axes=[-1,0] keepdims=0", "f32[4,7]", "f32[]",
                    "f32[2,0,3] axes=[1]", "f32[0,3] axes=[1]", "f16[3,9] axes=[1]", "f64[2,3] axes=[0]",
                    "i64[4,3] axes=[0]", "i32[2,3,4] axes=[0,2] keepdims=0", "f32[2,3] noop_with_empty_axes=1", "bf16[3,70] axes=[1]",
                    "bf16[2,5,37] axes=[1]"});
}

}  // namespace tenfold::ir
