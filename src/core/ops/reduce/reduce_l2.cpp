// ReduceL2: the root of the sum of squares over some dims; of integers, the integer below the root.
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "ir/fault.h"
#include "ops/reduce/reduce_common.h"

namespace tenfold::ir {
namespace {

double real(std::span<const double> elements) {
  double sum = 0;
  for (const double x : elements) sum += x * x;
  return std::sqrt(sum);
}

using Square = unsigned __int128;

std::int64_t whole(DType type, std::span<const std::int64_t> elements) {
  Square sum = 0;
  for (const std::int64_t x : elements) {
    const Square size = type == DType::u64 ? static_cast<std::uint64_t>(x) : unsigned_abs(x);
    supported(!__builtin_add_overflow(sum, size * size, &sum), "the squares of ", elements.size(), " integers have a sum past 128 bits");
  }
  auto root = static_cast<Square>(std::sqrt(static_cast<long double>(sum)));
  while (root * root > sum || root >> 64 != 0) --root;
  while (root + 1 <= std::numeric_limits<std::uint64_t>::max() && (root + 1) * (root + 1) <= sum) ++root;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(root));
}

void reference(Call& call) { reduce(call, {real, whole}); }

}  // namespace

OpDef op_reduce_l2() {
  return reduction("ReduceL2", ReductionKind::norm, reference,
                   {"f32[2,3,5] axes=[1]", "f32[2,3,5] axes=[-1,0] keepdims=0", "f32[4,7]", "f32[]",
                    "f32[2,0,3] axes=[1]", "f32[0,3] axes=[1]", "f16[3,9] axes=[1]", "f64[2,3] axes=[0]",
                    "i64[4,3] axes=[0]", "i32[2,3,4] axes=[0,2] keepdims=0", "f32[2,3] noop_with_empty_axes=1", "bf16[3,70] axes=[1]",
                    "bf16[2,5,37] axes=[1]"});
}

}  // namespace tenfold::ir
