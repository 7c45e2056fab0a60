// Sums of elements that lie anywhere in a plane, by gathers.
#include "backends/cpu/kernels/resize/sample.h"

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

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
    default: return sample<0>(from, offset, weight, taps, count, to);
  }
}

}  // namespace

extern "C" constinit const SampleKernels TENFOLD_TABLE(sample) = {sample_any};

}  // namespace tenfold::backends::cpu
