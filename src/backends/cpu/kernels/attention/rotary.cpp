// Rotary position embeddings of one head: pairs of elements, turned by angles whose cosines and sines are given.
#include "backends/cpu/kernels/attention/rotary.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

void turn(float* y, const float* x, const float* cosines, const float* sines, int64_t half) {
  for (int64_t i = 0; i < half; i += kLanes) {
    const int64_t n = half - i < kLanes ? half - i : kLanes;
    const vf c = load_n(cosines + i, n), s = load_n(sines + i, n), a = load_n(x + i, n), b = load_n(x + half + i, n);
    store_n(y + i, fnma(s, b, mul(c, a)), n);
    store_n(y + half + i, fma(s, a, mul(c, b)), n);
  }
}

void turn_interleaved(float* y, const float* x, const float* cosines, const float* sines, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    y[2 * i] = __builtin_fmaf(-sines[i], b, cosines[i] * a);
    y[2 * i + 1] = __builtin_fmaf(sines[i], a, cosines[i] * b);
  }
}

}  // namespace

extern "C" constinit const RotaryKernels TENFOLD_TABLE(rotary) = {turn, turn_interleaved};

}  // namespace tenfold::backends::cpu
