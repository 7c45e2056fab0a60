// Running sums; the compiler makes vectors of them.
#include "backends/cpu/kernels/reduce/running.h"

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

template <bool kExclusive>
void row(float* __restrict to, const float* __restrict x, double* __restrict sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double before = sums[i], after = before + static_cast<double>(x[i]);
    sums[i] = after;
    to[i] = static_cast<float>(kExclusive ? before : after);
  }
}

void sum_row(float* to, const float* x, double* sums, int64_t count, bool exclusive) {
  (exclusive ? row<true> : row<false>)(to, x, sums, count);
}

}  // namespace

extern "C" constinit const RunningKernels TENFOLD_TABLE(running) = {sum_row};

}  // namespace tenfold::backends::cpu
