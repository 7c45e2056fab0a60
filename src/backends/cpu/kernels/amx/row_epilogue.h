// The epilogue of 32 sums of a row of a bf16 product: + bias, + residual, clamped, GELU, stored as bf16 or f32.
#pragma once

#include <x86intrin.h>

#include <limits>

#include "backends/cpu/kernels/avx512bf16/gelu.h"
#include "backends/cpu/kernels/gemm/gemm_bf16.h"

namespace tenfold::backends::cpu {
namespace {

inline __mmask32 lanes32_of(std::int64_t left) { return left >= 32 ? ~__mmask32{0} : (__mmask32{1} << (left > 0 ? left : 0)) - 1; }

// 32 values of f32, or of bf16 as f32; `lanes`: those that exist.
struct Pair {
  __m512 low, high;
};
inline Pair load_pair(bool wide, __mmask32 lanes, const char* from) {
  if (wide)
    return {_mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from),
            _mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes >> 16), from + 64)};
  const __m512i v = _mm512_maskz_loadu_epi16(lanes, from);
  // Each twice: the upper half is kept. Held in registers, for a permutation that also loads its indices takes longer.
  const __m512i first = _mm512_set_epi16(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2,
                                         1, 1, 0, 0);
  const auto widen = [v](__m512i pick) { return _mm512_castsi512_ps(_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, pick, v)); };
  return {widen(first), widen(_mm512_add_epi16(first, _mm512_set1_epi16(16)))};
}

enum class RowBounds { low, both, both_then_gelu };   // none is low: minus infinity

template <bool kResidual, bool kWide, RowBounds kBounds>
class RowEpilogue {
 public:
  explicit RowEpilogue(const GemmBf16Waiting& w)
      : lanes_(lanes32_of(w.columns)), out_at_(w.column * (kWide ? 4 : 2)), sums_(w.sums), residual_wide_(w.epilogue->residual_wide) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const GemmBf16EpilogueArgs& f = *w.epilogue;
    residual_at_ = w.column * (residual_wide_ ? 4 : 2);
    if (f.bias) bias_ = load_pair(f.bias_wide, lanes_, f.bias + w.column * (f.bias_wide ? 4 : 2));
    if constexpr (kResidual) in_place_ = w.count > 0 && w.rows[0].residual == w.rows[0].out && residual_at_ == out_at_;
    lower_ = _mm512_set1_ps(f.clamp ? f.low : -kInfinity), upper_ = _mm512_set1_ps(f.clamp ? f.high : kInfinity);
  }

  void prefetch(const GemmBf16Waiting::Row& row) const {
    _m_prefetchw(row.out + out_at_);
    if constexpr (kWide) _m_prefetchw(row.out + out_at_ + 64);
    if constexpr (kResidual)
      if (!in_place_) _mm_prefetch(row.residual + residual_at_, _MM_HINT_T0);
  }
  void operator()(const GemmBf16Waiting::Row& row) const {
    const float* const sums = sums_ + row.sums;
    Pair v{_mm512_add_ps(_mm512_loadu_ps(sums), bias_.low), _mm512_add_ps(_mm512_loadu_ps(sums + 16), bias_.high)};
    if constexpr (kResidual) {
      const Pair r = load_pair(residual_wide_, lanes_, row.residual + residual_at_);
      v = {_mm512_add_ps(v.low, r.low), _mm512_add_ps(v.high, r.high)};
    }
    v = {_mm512_max_ps(lower_, v.low), _mm512_max_ps(lower_, v.high)};   // keeps NaN
    if constexpr (kBounds != RowBounds::low) v = {_mm512_min_ps(upper_, v.low), _mm512_min_ps(upper_, v.high)};
    if constexpr (kBounds == RowBounds::both_then_gelu) v = {gelu_erf(v.low), gelu_erf(v.high)};
    char* const out = row.out + out_at_;
    if constexpr (kWide) {
      _mm512_mask_storeu_ps(out, static_cast<__mmask16>(lanes_), v.low);
      _mm512_mask_storeu_ps(out + 64, static_cast<__mmask16>(lanes_ >> 16), v.high);
    } else {
      _mm512_mask_storeu_epi16(out, lanes_, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(v.high, v.low)));
    }
  }

 private:
  __mmask32 lanes_;
  Pair bias_{_mm512_setzero_ps(), _mm512_setzero_ps()};
  __m512 lower_, upper_;
  std::int64_t out_at_, residual_at_;
  const float* sums_;
  bool residual_wide_, in_place_;
};

// f<kResidual, kWide, kBounds>()
template <class F>
inline void pick_row_epilogue(const GemmBf16EpilogueArgs& f, F&& run) {
  const auto of_type = [&]<bool kResidual, bool kWide>() {
    if (f.gelu)
      run.template operator()<kResidual, kWide, RowBounds::both_then_gelu>();
    else if (f.clamp && f.high < std::numeric_limits<float>::infinity())
      run.template operator()<kResidual, kWide, RowBounds::both>();
    else
      run.template operator()<kResidual, kWide, RowBounds::low>();
  };
  const auto with = [&]<bool kResidual>() {
    f.out_wide ? of_type.template operator()<kResidual, true>() : of_type.template operator()<kResidual, false>();
  };
  f.residual ? with.template operator()<true>() : with.template operator()<false>();
}

}  // namespace
}  // namespace tenfold::backends::cpu
