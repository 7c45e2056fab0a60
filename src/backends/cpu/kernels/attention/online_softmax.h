// Scores of a block of keys as weights of an online softmax, in units of log 2, so that the exponential is 2^x.
#pragma once

#include "backends/cpu/kernels/attention/attention.h"
#include "backends/cpu/simd/math.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

constexpr int64_t kKeys = 128;   // of a block
constexpr float kLog2e = 1.44269504f, kLowest = -__builtin_inff(), kLowestMask = -2.3e38f;  // the latter times log2(e) is finite

// In units of log 2 too, without becoming infinite there: a row that is masked whole by the lowest float is an even mean of all values, one
// that is masked by infinity sees no key.
TENFOLD_INLINE vf finite(vf mask) {
  return blend(max(set1(kLowestMask), mask), mask, compare<_CMP_EQ_OQ>(mask, set1(kLowest)));
}

// What all rows add to the scores of these keys: the mask where they share it, or nothing.
inline void share_mask(const AttentionHead& a, const float* mask, int64_t keys, float* to) {
  for (int64_t j = 0; j < kKeys; j += kLanes) {
    const int64_t left = keys - j;
    const vf m = left <= 0 || !mask ? zero() : !a.mask_col ? set1(*mask) : left < kLanes ? load_n(mask + j, left) : load(mask + j);
    store(to + j, mul(finite(m), set1(kLog2e)));
  }
}

// The largest of a row's scores up to `seen`, which first get a mask of their own, if any.
TENFOLD_INLINE float highest_of(const AttentionHead& a, float* score, const float* mask, int64_t seen) {
  vf m = set1(kLowest), other = m;
  int64_t j = 0;
  if (mask && seen > 0) {
    const vf all = finite(set1(*mask));
    for (; j < seen; j += kLanes) {
      const bool whole = seen - j >= kLanes;
      const vf own = !a.mask_col ? all : finite(whole ? load(mask + j) : load_n(mask + j, seen - j));
      const vf s = fma(own, set1(kLog2e), load(score + j));
      store(score + j, s);
      m = max(whole ? s : blend(m, s, lanes(seen - j)), m);
    }
  } else {
    for (; j + 2 * kLanes <= seen; j += 2 * kLanes) m = max(load(score + j), m), other = max(load(score + j + kLanes), other);
    for (; j + kLanes <= seen; j += kLanes) m = max(load(score + j), m);
    if (j < seen) m = max(blend(m, load(score + j), lanes(seen - j)), m);
  }
  return max_lane(max(other, m));
}

// 2^x for x <= 0, and 0 for hidden keys: 2^-126 of them would make values denormal, which are slow even where they are flushed.
TENFOLD_INLINE vf weight_of(vf x) { return blend(exp2_nonpositive(x), zero(), compare<_CMP_LT_OQ>(x, set1(-126.f))); }

// One row of scores whose largest one is known: raises the running maximum, leaves exponentials and their sum. Keys beyond `seen` weigh 0.
TENFOLD_INLINE void soften(float highest, float* score, int64_t keys, int64_t seen, float* top, float* total, float* sums, int64_t width,
                           bool first) {
  int64_t j = 0;
  const float before = *top, now = highest > before ? highest : before;
  if (now == kLowest) {  // every key so far is hidden, or the maximum has left out scores that are NaN
    vf odd = zero();
    for (; j < keys; j += kLanes) {
      const vf s = load(score + j), nan = blend(zero(), s, compare<_CMP_UNORD_Q>(s, s));
      odd = add(odd, j + kLanes <= seen ? nan : j < seen ? blend(zero(), nan, lanes(seen - j)) : zero());
      store(score + j, zero());
    }
    *total += sum(odd);
    return;
  }
  const vf shift = set1(now);
  vf sum_now = zero();
  for (; j + kLanes <= seen; j += kLanes) {
    const vf e = weight_of(sub(load(score + j), shift));
    store(score + j, e);
    sum_now = add(sum_now, e);
  }
  if (j < seen) {
    const vf e = blend(zero(), weight_of(sub(load(score + j), shift)), lanes(seen - j));
    store(score + j, e);
    sum_now = add(sum_now, e);
    j += kLanes;
  }
  for (; j < keys; j += kLanes) store(score + j, zero());
  const float here = sum(sum_now);
  if (first || now == before) {
    *total += here;
  } else {  // earlier sums were in units of the old maximum
    float factor[kLanes];
    store(factor, before == kLowest ? zero() : exp2_nonpositive(set1(before - now)));
    *total = *total * factor[0] + here;
    for (int64_t i = 0; i < width; i += kLanes) store(sums + i, mul(load(sums + i), set1(factor[0])));
  }
  *top = now;
}

}  // namespace
}  // namespace tenfold::backends::cpu
