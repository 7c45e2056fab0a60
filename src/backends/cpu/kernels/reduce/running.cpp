// Running sums of columns, whose accumulators stay in registers from row to row.
#include "backends/cpu/kernels/reduce/running.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

constexpr int kWidth = simd::kLanes / 2;   // doubles of a vector
using Doubles = double __attribute__((vector_size(kWidth * sizeof(double))));
using Floats = float __attribute__((vector_size(kWidth * sizeof(float))));

// kVectors * kWidth columns.
template <bool kExclusive, int kVectors>
void block(float* to, const float* x, int64_t step, int64_t extent) {
  Doubles sums[kVectors] = {};
  for (int64_t e = 0; e < extent; ++e, to += step, x += step) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      Floats in;
      __builtin_memcpy(&in, x + v * kWidth, sizeof in);
      const Doubles before = sums[v];
      sums[v] += __builtin_convertvector(in, Doubles);
      const Floats out = __builtin_convertvector(kExclusive ? before : sums[v], Floats);
      __builtin_memcpy(to + v * kWidth, &out, sizeof out);
    }
  }
}

template <bool kExclusive>
void columns(float* to, const float* x, int64_t step, int64_t extent, int64_t count) {
  int64_t c = 0;
  for (; c + 8 * kWidth <= count; c += 8 * kWidth) block<kExclusive, 8>(to + c, x + c, step, extent);
  for (; c + kWidth <= count; c += kWidth) block<kExclusive, 1>(to + c, x + c, step, extent);
  for (; c < count; ++c) {
    double sum = 0;
    for (int64_t e = 0; e < extent; ++e) {
      const double before = sum;
      sum += static_cast<double>(x[e * step + c]);
      to[e * step + c] = static_cast<float>(kExclusive ? before : sum);
    }
  }
}

void sum_columns(float* to, const float* x, int64_t step, int64_t extent, int64_t count, bool exclusive) {
  (exclusive ? columns<true> : columns<false>)(to, x, step, extent, count);
}

}  // namespace

extern "C" constinit const RunningKernels TENFOLD_TABLE(running) = {sum_columns};

}  // namespace tenfold::backends::cpu
