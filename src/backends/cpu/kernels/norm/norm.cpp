// Layer and RMS normalization and softmax of rows, in a fixed order of summation.
#include "backends/cpu/kernels/norm/norm.h"

#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/math.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

// The sum of f over n elements: four running vectors; lanes beyond the end count as `F::tail` leaves them.
template <class F>
TENFOLD_INLINE float sum_of(const float* x, int64_t n, F f) {
  vf s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    s0 = f(s0, load(x + i));
    s1 = f(s1, load(x + i + kLanes));
    s2 = f(s2, load(x + i + 2 * kLanes));
    s3 = f(s3, load(x + i + 3 * kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) s0 = f(s0, load(x + i));
  if (i < n) s1 = blend(s1, f(s1, load_n(x + i, n - i)), lanes(n - i));
  return sum(add(add(s0, s1), add(s2, s3)));
}

template <bool kBias>
TENFOLD_INLINE void scale_row(const float* x, float* y, const float* scale, const float* bias, int64_t n, float mean, float inverse) {
  const vf m = set1(mean), r = set1(inverse);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const vf centered = mul(sub(load(x + i), m), r);
    store(y + i, kBias ? fma(centered, load(scale + i), load(bias + i)) : mul(centered, load(scale + i)));
  }
  if (const int64_t rest = n - i; rest > 0) {
    const vf centered = mul(sub(load_n(x + i, rest), m), r);
    store_n(y + i, kBias ? fma(centered, load_n(scale + i, rest), load_n(bias + i, rest)) : mul(centered, load_n(scale + i, rest)), rest);
  }
}

void moments(const float* x, int64_t n, float epsilon, float* mean_out, float* inverse) {
  const float mean = sum_of(
                         x, n, [](vf s, vf v) __attribute__((always_inline)) { return add(s, v); }) /
                     static_cast<float>(n);
  const vf m = set1(mean);
  const float variance = sum_of(
                             x, n,
                             [m](vf s, vf v) __attribute__((always_inline)) {
                               const vf d = sub(v, m);
                               return fma(d, d, s);
                             }) /
                         static_cast<float>(n);
  *mean_out = mean;
  *inverse = 1.f / __builtin_sqrtf(variance + epsilon);
}
void affine(const float* x, float* y, int64_t n, float scale, float shift) {
  const vf a = set1(scale), b = set1(shift);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, fma(load(x + i), a, b));
  if (i < n) store_n(y + i, fma(load_n(x + i, n - i), a, b), n - i);
}

// kVectors vectors of neighboring columns, over all rows.
template <int kVectors>
TENFOLD_INLINE void columns_from(const float* x, int64_t rows, int64_t pitch, const float* shift, float* sum, float* squares) {
  vf k[kVectors], s[kVectors], q[kVectors];
  for (int v = 0; v < kVectors; ++v) k[v] = load(shift + v * kLanes), s[v] = zero(), q[v] = zero();
  for (int64_t r = 0; r < rows; ++r, x += pitch)
    for (int v = 0; v < kVectors; ++v) {
      const vf d = sub(load(x + v * kLanes), k[v]);
      s[v] = add(s[v], d), q[v] = fma(d, d, q[v]);
    }
  for (int v = 0; v < kVectors; ++v) store(sum + v * kLanes, s[v]), store(squares + v * kLanes, q[v]);
}
void column_moments(const float* x, int64_t rows, int64_t columns, const float* shift, float* sums, float* squares) {
  int64_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) columns_from<4>(x + c, rows, columns, shift + c, sums + c, squares + c);
  for (; c + kLanes <= columns; c += kLanes) columns_from<1>(x + c, rows, columns, shift + c, sums + c, squares + c);
  const int64_t rest = columns - c;
  if (rest == 0) return;
  const vf k = load_n(shift + c, rest);
  vf s = zero(), q = zero();
  for (int64_t r = 0; r < rows; ++r) {
    const vf d = sub(load_n(x + r * columns + c, rest), k);
    s = add(s, d), q = fma(d, d, q);
  }
  store_n(sums + c, s, rest), store_n(squares + c, q, rest);
}

void layer_norm(const float* x, float* y, const float* scale, const float* bias, int64_t n, float epsilon) {
  float mean, inverse;
  moments(x, n, epsilon, &mean, &inverse);
  if (bias)
    scale_row<true>(x, y, scale, bias, n, mean, inverse);
  else
    scale_row<false>(x, y, scale, bias, n, mean, inverse);
}

void rms_norm(const float* x, float* y, const float* scale, int64_t n, float epsilon) {
  const float squares = sum_of(
                            x, n, [](vf s, vf v) __attribute__((always_inline)) { return fma(v, v, s); }) /
                        static_cast<float>(n);
  scale_row<false>(x, y, scale, nullptr, n, 0.f, 1.f / __builtin_sqrtf(squares + epsilon));
}

constexpr float kLowest = -__builtin_inff();

template <bool kExact>
TENFOLD_INLINE vf weight(vf x) {
  if constexpr (kExact) return simd::exp(x);
  return exp_nonpositive(x);
}

template <bool kExact>
void softmax_row(const float* x, float* y, int64_t n, bool log) {
  vf top = set1(kLowest);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) top = max(load(x + i), top);  // NaN is left out here and returns with the sum
  if (i < n) top = max(blend(set1(kLowest), load_n(x + i, n - i), lanes(n - i)), top);
  const vf m = set1(max_lane(top));
  vf total = zero();
  for (i = 0; i + kLanes <= n; i += kLanes) {
    const vf e = weight<kExact>(sub(load(x + i), m));
    if (!log) store(y + i, e);
    total = add(total, e);
  }
  if (i < n) {
    const vf e = blend(zero(), weight<kExact>(sub(load_n(x + i, n - i), m)), lanes(n - i));
    if (!log) store_n(y + i, e, n - i);
    total = add(total, e);
  }
  const float whole = sum(total);
  if (log) {
    const vf shift = add(m, simd::log(set1(whole)));
    for (i = 0; i + kLanes <= n; i += kLanes) store(y + i, sub(load(x + i), shift));
    if (i < n) store_n(y + i, sub(load_n(x + i, n - i), shift), n - i);
    return;
  }
  const vf scale = set1(1.f / whole);
  for (i = 0; i + kLanes <= n; i += kLanes) store(y + i, mul(load(y + i), scale));
  if (i < n) store_n(y + i, mul(load_n(y + i, n - i), scale), n - i);
}

// kLanes columns or fewer; each runs down its own lane.
template <bool kExact>
void softmax_lane(const float* x, float* y, int64_t n, int64_t stride, int64_t width, bool log) {
  vf m = set1(kLowest), total = zero();
  for (int64_t i = 0; i < n; ++i) m = max(load_n(x + i * stride, width), m);
  for (int64_t i = 0; i < n; ++i) {
    const vf e = weight<kExact>(sub(load_n(x + i * stride, width), m));
    if (!log) store_n(y + i * stride, e, width);
    total = add(total, e);
  }
  const vf last = log ? add(m, simd::log(total)) : div(set1(1.f), total);
  for (int64_t i = 0; i < n; ++i) {
    const vf v = log ? sub(load_n(x + i * stride, width), last) : mul(load_n(y + i * stride, width), last);
    store_n(y + i * stride, v, width);
  }
}
template <bool kExact>
void softmax_lanes(const float* x, float* y, int64_t n, int64_t stride, int64_t columns, bool log) {
  for (int64_t c = 0; c < columns; c += kLanes)
    softmax_lane<kExact>(x + c, y + c, n, stride, columns - c < kLanes ? columns - c : kLanes, log);
}

void softmax(const float* x, float* y, int64_t n, SoftmaxForm form) {
  (form.exact ? softmax_row<true> : softmax_row<false>)(x, y, n, form.log);
}
void softmax_columns(const float* x, float* y, int64_t n, int64_t stride, int64_t columns, SoftmaxForm form) {
  (form.exact ? softmax_lanes<true> : softmax_lanes<false>)(x, y, n, stride, columns, form.log);
}

}  // namespace

extern "C" constinit const NormKernels TENFOLD_TABLE(norm) = {layer_norm, rms_norm, softmax, softmax_columns, moments, affine,
                                                             column_moments};

}  // namespace tenfold::backends::cpu
