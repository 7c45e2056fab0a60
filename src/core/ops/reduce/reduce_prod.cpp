// ReduceProd: the product over some dims.
#include <functional>
#include <numeric>

#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

double real(std::span<const double> elements) { return std::accumulate(elements.begin(), elements.end(), 1.0, std::multiplies<>()); }
std::int64_t whole(DType, std::span<const std::int64_t> elements) {
  std::uint64_t product = 1;   // wraps
  for (const std::int64_t x : elements) product *= static_cast<std::uint64_t>(x);
  return static_cast<std::int64_t>(product);
}

void reference(Call& call) { reduce(call, {real, whole}); }

}  // namespace

OpDef op_reduce_prod() {
  return reduction("ReduceProd", ReductionKind::other, reference,
                   {"f32[2,3,5] axes=[1]", "f32[2,3,5] axes=[-1,0] keepdims=0", "f32[4,7]", "f32[]",
                    "f32[2,0,3] axes=[1]", "f32[0,3] axes=[1]", "f16[3,9] axes=[1]", "f64[2,3] axes=[0]",
                    "i64[4,3] axes=[0]", "i32[2,3,4] axes=[0,2] keepdims=0", "f32[2,3] noop_with_empty_axes=1"});
}

}  // namespace tenfold::ir
