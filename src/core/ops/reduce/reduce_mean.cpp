// ReduceMean: the average over some dims; integers truncate.
#include <numeric>

#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

double real(std::span<const double> elements) {
  return std::accumulate(elements.begin(), elements.end(), 0.0) / static_cast<double>(elements.size());
}

std::int64_t whole(DType type, std::span<const std::int64_t> elements) {
  if (elements.empty()) return 0;
  __int128 sum = 0;   // of fewer than 2^63 elements
  for (const std::int64_t x : elements) sum += type == DType::u64 ? static_cast<__int128>(static_cast<std::uint64_t>(x)) : x;
  return type == DType::boolean ? sum != 0 : static_cast<std::int64_t>(sum / static_cast<std::int64_t>(elements.size()));
}

void reference(Call& call) { reduce(call, {real, whole}); }

}  // namespace

OpDef op_reduce_mean() {
  return reduction("ReduceMean", ReductionKind::mean, reference,
                   {"f32[2,3,5] axes=[1]", "f32[2,3,5] axes=[-1,0] keepdims=0", "f32[4,7]", "f32[]",
                    "f32[0,3] axes=[1]", "f16[3,9] axes=[1]", "f64[2,3] axes=[0]", "i64[4,3] axes=[0]",
                    "i32[2,3,4] axes=[0,2] keepdims=0", "f32[2,3] noop_with_empty_axes=1", "bf16[3,70] axes=[1]",
                    "bf16[2,5,37] axes=[1]"});
}

}  // namespace tenfold::ir
