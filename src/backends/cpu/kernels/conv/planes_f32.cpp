// Convolution of few filters, vectors along the positions: sums of some filters at some vectors of positions stay in registers.
#include "backends/cpu/kernels/conv/planes_f32.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;

template <int kFilters, int kVectors>
TENFOLD_INLINE void tile(const PlanesF32& p, const float* x, float* y) {
  vf sum[kFilters][kVectors];
#pragma GCC unroll 4
  for (int f = 0; f < kFilters; ++f) {
    const vf first = p.bias ? set1(p.bias[f]) : zero();
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[f][v] = first;
  }
  const float* w = p.weights;
  for (std::int64_t step = 0; step < p.steps; ++step, w += kFilters) {
    const float* const at = x + p.taps[step];
    vf weight[kFilters];
#pragma GCC unroll 4
    for (int f = 0; f < kFilters; ++f) weight[f] = set1(w[f]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const vf in = load(at + v * kLanes);
#pragma GCC unroll 4
      for (int f = 0; f < kFilters; ++f) sum[f][v] = fma(in, weight[f], sum[f][v]);
    }
  }
  const vf low = set1(p.low), high = set1(p.high);
#pragma GCC unroll 4
  for (int f = 0; f < kFilters; ++f) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      store(y + f * p.pitch + v * kLanes, p.clamp ? min(high, max(low, sum[f][v])) : sum[f][v]);   // the second operand if there is a NaN
  }
}

template <int kFilters>
void run(const PlanesF32& p, const float* x, float* y, std::int64_t positions) {
  // As many sums as hide the latency and leave registers for weights and a vector of the input.
  constexpr int kMax = kFilters == 1 ? 8 : kLanes == 16 ? (kFilters == 2 ? 8 : 4) : (kFilters == 4 ? 2 : 4);
  std::int64_t i = 0;
  for (; i + (kMax - 1) * kLanes < positions; i += kMax * kLanes) tile<kFilters, kMax>(p, x + i, y + i);
  if (kMax > 4 && i + 3 * kLanes < positions) tile<kFilters, (kMax > 4 ? 4 : 1)>(p, x + i, y + i), i += 4 * kLanes;
  if (kMax > 2 && i + kLanes < positions) tile<kFilters, (kMax > 2 ? 2 : 1)>(p, x + i, y + i), i += 2 * kLanes;
  if (i < positions) tile<kFilters, 1>(p, x + i, y + i);
}

}  // namespace

extern "C" const PlanesF32Kernels TENFOLD_TABLE(planes_f32) = {kLanes, {run<1>, run<2>, run<3>, run<4>}};

}  // namespace tenfold::backends::cpu
