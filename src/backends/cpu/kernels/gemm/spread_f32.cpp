// Vectors of results that span rows: one load of inputs, and for each input of a result one permutation and one FMA.
#include "backends/cpu/kernels/gemm/spread_f32.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;

// Depth 0: any. `left`: floats from the first input of the row in which the vector begins to the last that exists.
template <int kDepth, bool kWhole>
TENFOLD_INLINE vf results(const SpreadF32& s, const float* x, std::int64_t left, std::int64_t column) {
  const std::int32_t first = s.first[column];
  const std::int64_t pitch = s.columns + kLanes;
  left -= first;
  const vf in = kWhole || left >= kLanes ? load(x + first) : load_n(x + first, left);
  const vi index = subi(loadi(s.first + column), set1i(first));
  vf sum = s.bias ? load(s.bias + column) : zero();
  const float* w = s.weights + column;
#pragma GCC unroll 8
  for (int k = 0; k < (kDepth ? kDepth : s.depth); ++k, w += pitch) sum = fma(permute(in, k ? addi(index, set1i(k)) : index), load(w), sum);
  return sum;
}

TENFOLD_INLINE vf clamped(const SpreadF32& s, vf sum) {
  return s.clamp ? min(set1(s.high), max(set1(s.low), sum)) : sum;   // the second operand if there is a NaN
}

template <int kDepth>
TENFOLD_INLINE void rows_of(const SpreadF32& s, const float* x, const float* x_end, float* y, std::int64_t rows) {
  const std::int64_t rows_on = kLanes / s.columns, columns_on = kLanes % s.columns, reach = kLanes + s.first[s.columns - 1];
  const float* residual = s.residual;
  std::int64_t left = rows * s.columns, column = 0, inputs = x_end - x;
  const auto next = [&]() __attribute__((always_inline)) {
    y += kLanes, left -= kLanes, column += columns_on;
    if (residual) residual += kLanes;
    std::int64_t on = rows_on;
    if (column >= s.columns) column -= s.columns, ++on;
    x += on * s.step, inputs -= on * s.step;
  };
  for (; left >= kLanes; next()) {
    vf sum = inputs >= reach ? results<kDepth, true>(s, x, inputs, column) : results<kDepth, false>(s, x, inputs, column);
    if (residual) sum = add(sum, load(residual));
    store(y, clamped(s, sum));
  }
  if (left <= 0) return;
  vf sum = results<kDepth, false>(s, x, inputs, column);
  if (residual) sum = add(sum, load_n(residual, left));
  store_n(y, clamped(s, sum), left);
}

void run(const SpreadF32& s, const float* x, const float* x_end, float* y, std::int64_t rows) {
  switch (s.depth) {
    case 1: return rows_of<1>(s, x, x_end, y, rows);
    case 2: return rows_of<2>(s, x, x_end, y, rows);
    case 3: return rows_of<3>(s, x, x_end, y, rows);
    case 4: return rows_of<4>(s, x, x_end, y, rows);
    default: return rows_of<0>(s, x, x_end, y, rows);
  }
}

}  // namespace

extern "C" const SpreadF32Kernels TENFOLD_TABLE(spread_f32) = {kLanes, run};

}  // namespace tenfold::backends::cpu
