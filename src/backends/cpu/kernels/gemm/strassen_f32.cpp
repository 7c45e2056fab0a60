// The sums of quarters for Strassen's product.
#include "backends/cpu/kernels/gemm/strassen_f32.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;

TENFOLD_INLINE vf read(const float* p, std::int64_t n) { return n >= kLanes ? load(p) : load_n(p, n); }
TENFOLD_INLINE void write(float* p, vf v, std::int64_t n) { n >= kLanes ? store(p, v) : store_n(p, v, n); }

void left(const float* const (&q)[4], std::int64_t n, float* const (&to)[4]) {
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const std::int64_t rest = n - i;
    const vf q11 = read(q[0] + i, rest), q21 = read(q[2] + i, rest);
    const vf first = add(q21, read(q[3] + i, rest)), second = sub(first, q11);
    write(to[0] + i, first, rest);
    write(to[1] + i, second, rest);
    write(to[2] + i, sub(q11, q21), rest);
    write(to[3] + i, sub(read(q[1] + i, rest), second), rest);
  }
}

}  // namespace

extern "C" const StrassenF32Kernels TENFOLD_TABLE(strassen_f32) = {left};

}  // namespace tenfold::backends::cpu
