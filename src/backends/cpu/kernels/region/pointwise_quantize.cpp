// QuantizeLinear in one loop: the quotient, rounded half to even, moved by the zero point, saturated.
#include <limits>

#include "backends/cpu/kernels/region/pointwise.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/quotient.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

// The quotient is bounded to what fits behind the zero point, a whole number, so that rounding it is the last step. NaN becomes 0.
template <class T, bool kZero>
void quantize(void* out, int64_t out_row, const PointwiseArg* args, unsigned, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const auto value = [&](int i) { return *(static_cast<const float*>(args[i].data) + r * args[i].row_stride); };
    const float divisor = value(1), zero_point = kZero ? value(2) : 0;
    const vf by = set1(divisor), inverse = set1(1 / divisor);
    const vf lower = set1(std::numeric_limits<T>::min() - zero_point), upper = set1(std::numeric_limits<T>::max() - zero_point);
    const vf of_nan = set1(-zero_point);
    const vi moved = set1i(static_cast<std::int32_t>(zero_point));
    const auto bytes = [&](vf x) __attribute__((always_inline)) {
      const vf q = quotient(x, by, inverse), number = blend(q, of_nan, compare<_CMP_UNORD_Q>(q, q));
      return addi(to_int(min(upper, max(lower, number))), moved);
    };
    const auto* a = static_cast<const float*>(args[0].data) + r * args[0].row_stride;
    auto* o = static_cast<std::uint8_t*>(out) + r * out_row;
    int64_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) narrow(o + c, bytes(load(a + c)));
    if (c == cols) continue;
    std::uint8_t last[kLanes];
    narrow(last, bytes(load_n(a + c, cols - c)));
    for (int64_t i = 0; c + i < cols; ++i) o[c + i] = last[i];
  }
}

}  // namespace

extern "C" constinit const PointwiseQuantizeKernels TENFOLD_TABLE(pointwise_quantize) = {
    .to_u8 = {quantize<std::uint8_t, false>, quantize<std::uint8_t, true>},
    .to_i8 = {quantize<std::int8_t, false>, quantize<std::int8_t, true>}};

}  // namespace tenfold::backends::cpu
