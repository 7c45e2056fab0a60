// Elementary functions on vectors of floats, to about 1-2 units in the last place, right for NaN, infinities and zeros.
//
// Coefficients are our own minimax fits: exp on half a binade, log on [sqrt(1/2), sqrt(2)], erf and tanh as ratios of
// polynomials in x squared up to where they round to 1.
#pragma once

#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/gelu.h"

namespace tenfold::simd {

template <int kCount>
TENFOLD_INLINE vf polynomial(vf x, const float (&c)[kCount]) {  // c[0] + c[1] x + ...
  vf r = set1(c[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) r = fma(r, x, set1(c[i]));
  return r;
}

// exp(x) = 2^n exp(r), |r| <= ln(2)/2. The scale is applied in two steps so that results near overflow come out right.
TENFOLD_INLINE vf exp(vf x) {
  constexpr float c[] = {0.4999999334f, 0.1666652053f, 0.04166842217f, 0.008368737183f, 0.001381260157f};
  const vf bounded = min(set1(104.f), max(set1(-104.f), x));  // NaN passes: min and max give their second operand
  const vf n = round_even(mul(bounded, set1(1.44269504f)));
  const vf r = fnma(n, set1(-2.12194440e-4f), fnma(n, set1(0.693359375f), bounded));
  const vf p = fma(mul(r, r), polynomial(r, c), add(r, set1(1.f)));
#if defined(__AVX512F__)
  return _mm512_scalef_ps(p, n);
#else
  const vi whole = to_int(n), half = shift_right<1>(whole), rest = subi(whole, half), bias = set1i(127);
  const vf low = as_float(shift_left<23>(addi(half, bias))), high = as_float(shift_left<23>(addi(rest, bias)));
  return mul(mul(p, low), high);
#endif
}

// 2^x for x <= 0, at least 2^-126, to 1e-7: what softmax weighs with. NaN stays NaN.
TENFOLD_INLINE vf exp2_nonpositive(vf x) {
  const vf magic = set1(12582912.f + 127.f);  // adding it leaves round(x) + 127 in the low bits
  const vf bounded = max(set1(-126.f), x);
  const vf t = add(bounded, magic);
  const vf r = sub(bounded, sub(t, magic));
  constexpr float c[] = {1.000000072f, 0.6931469712f, 0.2402211997f, 0.05550708143f, 0.009675527457f, 0.001327786946f};
  return mul(polynomial(r, c), as_float(shift_left<23>(as_int(t))));
}
// exp for x <= 0; results that would be below the smallest normal number become 0.
TENFOLD_INLINE vf exp_nonpositive(vf x) {
  const vf y = exp2_nonpositive(mul(x, set1(1.44269504f)));
  return blend(y, zero(), compare<_CMP_LT_OQ>(x, set1(-87.33f)));
}

TENFOLD_INLINE vf log(vf x) {
  constexpr float c[] = {0.3333333209f, -0.2500082092f, 0.200012056f,  -0.1662334764f,
                         0.1420207232f, -0.1316050524f, 0.1276003728f, -0.07632129461f};
  const vmask tiny = compare<_CMP_LT_OQ>(x, set1(1.17549435e-38f));
  const vf normal = blend(x, mul(x, set1(8388608.f)), tiny);  // denormals: times 2^23
  const vi bits = as_int(normal);
  const vi shifted = subi(bits, set1i(0x3f3504f3));  // from sqrt(1/2)
  const vi exponent = shift_right<23>(shifted);
  const vf e = sub(to_float(exponent), blend(zero(), set1(23.f), tiny));
  const vf m = sub(as_float(subi(bits, shift_left<23>(exponent))), set1(1.f));
  const vf m2 = mul(m, m);
  vf tail = mul(mul(m2, m), polynomial(m, c));
  tail = fma(e, set1(-2.12194440e-4f), tail);
  tail = fnma(set1(0.5f), m2, tail);
  vf r = fma(e, set1(0.693359375f), add(m, tail));
  const vf infinity = as_float(set1i(0x7f800000));
  r = blend(r, bits_or(infinity, sign_bits()), compare<_CMP_EQ_OQ>(x, zero()));
  r = blend(r, as_float(set1i(0x7fc00000)), compare<_CMP_LT_OQ>(x, zero()));
  r = blend(r, x, compare<_CMP_EQ_OQ>(x, infinity));
  return blend(r, x, compare<_CMP_UNORD_Q>(x, x));
}

TENFOLD_INLINE vf erf(vf x) {
  constexpr float p[] = {1.128379146f, 0.190403789f, 0.05274842599f, 0.003765538527f, 0.000284887627f, 2.050181624e-6f};
  constexpr float q[] = {1.f, 0.5020737f, 0.1141080683f, 0.01496902429f, 0.001162530717f, 3.80929804e-5f};
  const vf b = min(set1(3.92f), max(set1(-3.92f), x));
  const vf t = mul(b, b);
  const vf r = div(mul(b, polynomial(t, p)), polynomial(t, q));
  return min(set1(1.f), max(set1(-1.f), r));
}

TENFOLD_INLINE vf tanh(vf x) {
  constexpr float p[] = {0.9999999781f, 0.1337990947f, 0.003494272158f, 2.058785842e-5f, 1.332611187e-8f};
  constexpr float q[] = {1.f, 0.4671322456f, 0.02587195008f, 0.0003283500866f, 7.76469001e-7f};
  const vf b = min(set1(9.01f), max(set1(-9.01f), x));
  const vf t = mul(b, b);
  const vf r = div(mul(b, polynomial(t, p)), polynomial(t, q));
  return min(set1(1.f), max(set1(-1.f), r));
}

// With e = exp(-|x|), which does not overflow: 1 / (1 + e), and e / (1 + e) left of zero, down to the least denormal.
TENFOLD_INLINE vf sigmoid(vf x) {
  const vf e = exp(bits_or(x, sign_bits()));
  return div(blend(set1(1.f), e, compare<_CMP_LT_OQ>(x, zero())), add(set1(1.f), e));
}
#if !defined(__AVX512F__)
// GELU (of erf) of values in units of 1 / scale, in the same units.
class Gelu {
 public:
  explicit Gelu(float scale) : inner_(set1(0.70710678f / scale)) {}
  __attribute__((always_inline)) vf operator()(vf x) const {
    const vf h = mul(set1(0.5f), x);
    return fma(h, erf(mul(x, inner_)), h);
  }

 private:
  vf inner_;
};
#endif
// x/2 (1 + erf(x / sqrt 2)); as it is written there, NaN of minus infinity.
TENFOLD_INLINE vf gelu_erf(vf x) {
#if defined(__AVX512F__)
  return _mm512_fixupimm_ps(Gelu(1.f)(x), x, set1i(3 << 16), 0);
#else
  return Gelu(1.f)(x);
#endif
}
// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
TENFOLD_INLINE vf gelu_tanh(vf x) {
  const vf h = mul(set1(0.5f), x);
  const vf inner = mul(x, fma(mul(x, x), set1(0.0356774081f), set1(0.797884561f)));
  return fma(h, tanh(inner), h);
}
TENFOLD_INLINE vf silu(vf x) { return mul(x, sigmoid(x)); }

}  // namespace tenfold::simd
