// ReduceLogSum: the logarithm of the sum over some dims.
#include <cmath>
#include <numeric>

#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

double real(std::span<const double> elements) { return std::log(std::accumulate(elements.begin(), elements.end(), 0.0)); }

void reference(Call& call) { reduce(call, {real}); }

}  // namespace

OpDef op_reduce_log_sum() {
  return reduction("ReduceLogSum", ReductionKind::other, reference,
                   {"f32[2,3,5](0.1,4) axes=[1]", "f32[2,3,5](0.1,4) axes=[-1,0] keepdims=0", "f32[4,7](0.1,4)",
                    "f32[](0.1,4)", "f32[2,0,3](0.1,4) axes=[1]", "f32[0,3](0.1,4) axes=[1]",
                    "f16[3,9](0.1,4) axes=[1]", "f64[2,3](0.1,4) axes=[0]", "i64[4,3](1,9) axes=[0]",
                    "i32[2,3,4](1,9) axes=[0,2] keepdims=0", "f32[2,3](0.1,4) noop_with_empty_axes=1"});
}

}  // namespace tenfold::ir
