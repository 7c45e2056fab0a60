// Depthwise convolution of a plane: the sums of four rows of results at some vectors of columns stay in registers.
#include "backends/cpu/kernels/conv/planes_rows_f32.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;

template <int kTall, int kVectors>
TENFOLD_INLINE void tile(const PlanesRowsF32& p, const float* x, float* y) {
  vf sum[kPlanesRows][kVectors];
#pragma GCC unroll 4
  for (int o = 0; o < kPlanesRows; ++o)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[o][v] = set1(p.bias);
#pragma GCC unroll 16
  for (int row = 0; row < kPlanesRows + kTall - 1; ++row, x += p.pitch)   // of the plane: in a window of some rows of results
    for (std::int64_t tap = 0; tap < p.wide; ++tap) {
      const float* const at = x + p.taps[tap];
      vf in[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) in[v] = held(load(at + v * kLanes));
#pragma GCC unroll 4
      for (int o = 0; o < kPlanesRows; ++o) {
        if (row < o || row - o >= kTall) continue;
        const vf weight = held(set1(p.weights[(row - o) * p.wide + tap]));
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[o][v] = fma(in[v], weight, sum[o][v]);
      }
    }
  const vf low = set1(p.low), high = set1(p.high);
#pragma GCC unroll 4
  for (int o = 0; o < kPlanesRows; ++o)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)   // the second operand if there is a NaN
      store(y + o * p.y_pitch + v * kLanes, p.clamp ? min(high, max(low, sum[o][v])) : sum[o][v]);
}

template <int kTall>
void run(const PlanesRowsF32& p, const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  constexpr int kMaxVectors = kLanes == 16 ? 4 : 2;
  for (std::int64_t next = 0; next < rows; next += kPlanesRows) {
    const std::int64_t row = next + kPlanesRows <= rows ? next : rows - kPlanesRows;   // some of the last ones once more
    const float* const from = x + row * p.pitch;
    float* const to = y + row * p.y_pitch;
    std::int64_t i = 0;
    for (; i + (kMaxVectors - 1) * kLanes < columns; i += kMaxVectors * kLanes) tile<kTall, kMaxVectors>(p, from + i, to + i);
    if (kMaxVectors > 2 && i + kLanes < columns) tile<kTall, 2>(p, from + i, to + i), i += 2 * kLanes;
    if (i < columns) tile<kTall, 1>(p, from + i, to + i);
  }
}

}  // namespace

extern "C" const PlanesRowsF32Kernels TENFOLD_TABLE(planes_rows_f32) = {{run<3>, run<5>, run<7>}};

}  // namespace tenfold::backends::cpu
