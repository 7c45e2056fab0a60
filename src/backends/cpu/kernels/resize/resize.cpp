// Blends of Resize on vectors.
#include "backends/cpu/kernels/resize/resize.h"

#include "backends/cpu/simd/bf16.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

template <class T>
void blend_position(const T* x, const int64_t* offsets, const float* weights, int taps, int64_t channels, T* out) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t n = channels - c < kLanes ? channels - c : kLanes;
    vf sum = zero();
    for (int t = 0; t < taps; ++t)
      sum = fma(set1(weights[t]), n == kLanes ? load_any(x + offsets[t] + c) : load_any(x + offsets[t] + c, n), sum);
    if (n == kLanes)
      store_any(out + c, sum);
    else
      store_any(out + c, sum, n);
  }
}
void blend_row(const float* const* rows, const float* row_weights, int count, const std::int32_t* left, const std::int32_t* right,
               const float* along, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t here = n - i < kLanes ? n - i : kLanes;
    const vi l = loadi_n(left + i, here), r = loadi_n(right + i, here);
    const vf w = load_n(along + i, here), rest = sub(set1(1.f), w);
    vf sum = zero();
    for (int k = 0; k < count; ++k) sum = fma(set1(row_weights[k]), fma(gather(rows[k], l), rest, mul(gather(rows[k], r), w)), sum);
    store_n(out + i, sum, here);
  }
}
void pick_row(const float* row, const std::int32_t* index, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t here = n - i < kLanes ? n - i : kLanes;
    store_n(out + i, gather(row, loadi_n(index + i, here)), here);
  }
}

}  // namespace

extern "C" constinit const ResizeKernels TENFOLD_TABLE(resize) = {blend_position<float>, blend_position<std::uint16_t>, blend_row,
                                                                  pick_row};

}  // namespace tenfold::backends::cpu
