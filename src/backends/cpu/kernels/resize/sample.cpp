// Places of linear sampling by vectors of them, and sums of elements that lie anywhere in a plane, by gathers.
#include "backends/cpu/kernels/resize/sample.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

TENFOLD_INLINE vi muli(vi a, vi b) {
#if defined(__AVX512F__)
  return _mm512_mullo_epi32(a, b);
#else
  return _mm256_mullo_epi32(a, b);
#endif
}
alignas(64) const std::int32_t kLane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// The two elements along a dim, what each counts, and what those of the dims before count still: nothing, if a place is far outside.
struct Along {
  vi at[2];
  vf weight[2], before;
};
TENFOLD_INLINE Along along_dim(const SampleGrid& g, vf place, std::int64_t extent) {
  const vf one = set1(1), size = set1(static_cast<float>(extent)), last = set1(static_cast<float>(extent - 1)), half = set1(0.5f);
  vf x = add(place, one);
  x = held(g.corners ? mul(mul(x, half), last) : mul(sub(held(mul(x, size)), one), half));   // rounded each time, as the rule has it
  if (g.border) x = min(last, max(zero(), x));   // the second operand if there is a NaN
  const auto above = compare<_CMP_GT_OQ>(x, set1(-4)), below = compare<_CMP_LT_OQ>(x, add(size, set1(4)));
  const auto nan = compare<_CMP_UNORD_Q>(x, x);
  const vf near = blend(zero(), blend(zero(), x, above), below), first = floor(near), second = add(first, one);
  Along a{.at = {}, .weight = {}, .before = blend(blend(zero(), blend(zero(), one, above), below), one, nan)};
  const vf element[2] = {first, second}, beyond = sub(near, first);   // exact from 0 on; below, the first element lies outside
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    a.at[j] = mini(maxi(to_int_trunc(element[j]), set1i(0)), set1i(static_cast<std::int32_t>(extent - 1)));
    a.weight[j] = sub(one, simd::abs(sub(near, element[j])));
    if (j == 1) a.weight[j] = blend(a.weight[j], beyond, compare<_CMP_GE_OQ>(near, zero()));
    if (g.border) continue;
    a.weight[j] = blend(zero(), a.weight[j], compare<_CMP_GE_OQ>(element[j], zero()));
    a.weight[j] = blend(zero(), a.weight[j], compare<_CMP_LT_OQ>(element[j], size));
  }
  a.weight[0] = blend(a.weight[0], x, nan), a.weight[1] = blend(a.weight[1], zero(), nan);
  return a;
}

void linear(const SampleGrid& g, const float* places, int64_t count, std::int32_t* offset, float* weight) {
  const vi last = set1i(static_cast<std::int32_t>(count - 1));
  for (int64_t i = 0; i < count; i += kLanes) {
    const vi place = muli(mini(addi(loadi(kLane), set1i(static_cast<std::int32_t>(i))), last), set1i(g.dims));
    vi at[1 << kSampleDims] = {set1i(0)};
    vf w[1 << kSampleDims] = {set1(1)};
    for (int d = 0; d < g.dims; ++d) {
      const Along along = along_dim(g, gather(places, addi(place, set1i(g.dims - 1 - d))), g.extents[d]);
      for (int t = 1 << d; t-- > 0;) {
        const vi row = muli(at[t], set1i(static_cast<std::int32_t>(g.extents[d])));
        const vf before = blend(zero(), w[t], compare<_CMP_NEQ_UQ>(along.before, zero()));
        for (int j = 2; j-- > 0;) at[2 * t + j] = addi(row, along.at[j]), w[2 * t + j] = mul(before, along.weight[j]);
      }
    }
    for (int t = 0; t < 1 << g.dims; ++t) {
      storei(offset + t * kSampleBlock + i, at[t]);
      store(weight + t * kSampleBlock + i, w[t]);
    }
  }
}

// kTaps: so many; 0: any number.
template <int kTaps>
void sample(const float* from, const std::int32_t* offset, const float* weight, int taps, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += kLanes) {
    vf sum = zero();
    for (int t = 0; t < (kTaps ? kTaps : taps); ++t) {
      const vf w = load(weight + t * kSampleBlock + i);
      const vf product = mul(w, gather(from, loadi(offset + t * kSampleBlock + i)));
      sum = add(sum, blend(zero(), product, compare<_CMP_NEQ_UQ>(w, zero())));
    }
    if (count - i < kLanes) store_n(to + i, sum, count - i);
    else store(to + i, sum);
  }
}

void sample_any(const float* from, const std::int32_t* offset, const float* weight, int taps, int64_t count, float* to) {
  switch (taps) {
    case 1: return sample<1>(from, offset, weight, taps, count, to);
    case 2: return sample<2>(from, offset, weight, taps, count, to);
    case 4: return sample<4>(from, offset, weight, taps, count, to);
    case 8: return sample<8>(from, offset, weight, taps, count, to);
    default: return sample<0>(from, offset, weight, taps, count, to);
  }
}

}  // namespace

extern "C" constinit const SampleKernels TENFOLD_TABLE(sample) = {linear, sample_any};

}  // namespace tenfold::backends::cpu
