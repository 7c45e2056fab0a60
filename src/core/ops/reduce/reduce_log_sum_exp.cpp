// ReduceLogSumExp: the logarithm of the sum of exponentials over some dims.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

// The largest element is taken out, so that no exponential overflows.
double real(std::span<const double> elements) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double x : elements) {
    if (std::isnan(x)) return x;
    largest = std::max(largest, x);
  }
  if (std::isinf(largest)) return largest;
  for (const double x : elements) sum += std::exp(x - largest);
  return largest + std::log(sum);
}

void reference(Call& call) { reduce(call, {real}); }

}  // namespace

OpDef op_reduce_log_sum_exp() {
  return reduction("ReduceLogSumExp", ReductionKind::other, reference,
                   {"f32[2,3,5] axes=[1]", "f32[2,3,5] axes=[-1,0] keepdims=0", "f32[4,7]", "f32[]",
                    "f32[2,0,3] axes=[1]", "f32[0,3] axes=[1]", "f16[3,9] axes=[1]", "f64[2,3] axes=[0]",
                    "i64[4,3] axes=[0]", "i32[2,3,4] axes=[0,2] keepdims=0", "f32[2,3] noop_with_empty_axes=1"});
}

}  // namespace tenfold::ir
