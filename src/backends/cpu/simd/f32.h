// Vectors of 32-bit floats and integers of the instruction set that this file is compiled for. Kernels are written once on these.
//
// load_n / store_n touch only the first n lanes of memory, so a tail runs the very same arithmetic as the rest of a row.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace tenfold::simd {

#define TENFOLD_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
constexpr int kLanes = 16;
using vf = __m512;
using vi = __m512i;
using vmask = __mmask16;

TENFOLD_INLINE vmask lanes(std::int64_t n) { return static_cast<vmask>((1u << n) - 1); }
TENFOLD_INLINE vf zero() { return _mm512_setzero_ps(); }
TENFOLD_INLINE vf set1(float x) { return _mm512_set1_ps(x); }
TENFOLD_INLINE vi set1i(std::int32_t x) { return _mm512_set1_epi32(x); }
TENFOLD_INLINE vf load(const float* p) { return _mm512_loadu_ps(p); }
TENFOLD_INLINE vf load_n(const float* p, std::int64_t n) { return _mm512_maskz_loadu_ps(lanes(n), p); }
TENFOLD_INLINE void store(float* p, vf v) { _mm512_storeu_ps(p, v); }
TENFOLD_INLINE vf load_if(const float* p, vmask m) { return _mm512_maskz_loadu_ps(m, p); }
// In halves: Zen 4 takes nine cycles for a masked store of 64 bytes, two for one of 32. The upper half goes through a register: compilers
// make a masked VEXTRACTF32X8 of both, which faults for lanes that are masked off, too.
TENFOLD_INLINE void store_if(float* p, vf v, vmask m) {
  _mm256_mask_storeu_ps(p, static_cast<__mmask8>(m), _mm512_castps512_ps256(v));
  __m256 high = _mm512_extractf32x8_ps(v, 1);
  asm("" : "+v"(high));
  _mm256_mask_storeu_ps(p + 8, static_cast<__mmask8>(m >> 8), high);
}
TENFOLD_INLINE void store_if_low(float* p, vf v, vmask m) {  // nothing of the upper half
  _mm256_mask_storeu_ps(p, static_cast<__mmask8>(m), _mm512_castps512_ps256(v));
}
TENFOLD_INLINE void store_n(float* p, vf v, std::int64_t n) { store_if(p, v, lanes(n)); }
TENFOLD_INLINE vi loadi(const std::int32_t* p) { return _mm512_loadu_si512(p); }
TENFOLD_INLINE vi loadi_n(const std::int32_t* p, std::int64_t n) { return _mm512_maskz_loadu_epi32(lanes(n), p); }
TENFOLD_INLINE void storei(std::int32_t* p, vi v) { _mm512_storeu_si512(p, v); }
TENFOLD_INLINE void storei_n(std::int32_t* p, vi v, std::int64_t n) { _mm512_mask_storeu_epi32(p, lanes(n), v); }
TENFOLD_INLINE vf add(vf a, vf b) { return _mm512_add_ps(a, b); }
TENFOLD_INLINE vf sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
TENFOLD_INLINE vf mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
TENFOLD_INLINE vf div(vf a, vf b) { return _mm512_div_ps(a, b); }
TENFOLD_INLINE vf fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }    // a * b + c
TENFOLD_INLINE vf fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a * b
TENFOLD_INLINE vf min(vf a, vf b) { return _mm512_min_ps(a, b); }               // b if either is NaN
TENFOLD_INLINE vf max(vf a, vf b) { return _mm512_max_ps(a, b); }
TENFOLD_INLINE vf sqrt(vf a) { return _mm512_sqrt_ps(a); }
TENFOLD_INLINE vf floor(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
TENFOLD_INLINE vf ceil(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
TENFOLD_INLINE vf round_even(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TENFOLD_INLINE vf trunc(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
TENFOLD_INLINE vf bits_and(vf a, vf b) { return _mm512_and_ps(a, b); }
TENFOLD_INLINE vf bits_or(vf a, vf b) { return _mm512_or_ps(a, b); }
TENFOLD_INLINE vf bits_andnot(vf a, vf b) { return _mm512_andnot_ps(a, b); }  // ~a & b
TENFOLD_INLINE vf bits_xor(vf a, vf b) { return _mm512_xor_ps(a, b); }
TENFOLD_INLINE vf as_float(vi a) { return _mm512_castsi512_ps(a); }
TENFOLD_INLINE vi as_int(vf a) { return _mm512_castps_si512(a); }
TENFOLD_INLINE vf to_float(vi a) { return _mm512_cvtepi32_ps(a); }
TENFOLD_INLINE vi to_int(vf a) { return _mm512_cvtps_epi32(a); }  // nearest even
TENFOLD_INLINE vi to_int_trunc(vf a) { return _mm512_cvttps_epi32(a); }
TENFOLD_INLINE vi addi(vi a, vi b) { return _mm512_add_epi32(a, b); }
TENFOLD_INLINE vi subi(vi a, vi b) { return _mm512_sub_epi32(a, b); }
TENFOLD_INLINE vi andi(vi a, vi b) { return _mm512_and_si512(a, b); }
TENFOLD_INLINE vi mini(vi a, vi b) { return _mm512_min_epi32(a, b); }
TENFOLD_INLINE vi maxi(vi a, vi b) { return _mm512_max_epi32(a, b); }
template <int kBits>
TENFOLD_INLINE vi shift_left(vi a) {
  return _mm512_slli_epi32(a, kBits);
}
template <int kBits>
TENFOLD_INLINE vi shift_right(vi a) {
  return _mm512_srai_epi32(a, kBits);
}
template <int kPredicate>
TENFOLD_INLINE vmask compare(vf a, vf b) {
  return _mm512_cmp_ps_mask(a, b, kPredicate);
}
TENFOLD_INLINE vf blend(vf a, vf b, vmask m) { return _mm512_mask_blend_ps(m, a, b); }  // m ? b : a
TENFOLD_INLINE vi widen_u8(const std::uint8_t* p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
TENFOLD_INLINE vi widen_i8(const std::int8_t* p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
TENFOLD_INLINE void narrow(std::uint8_t* p, vi v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
}  // low bytes
TENFOLD_INLINE vmask nonzero(vi v) { return _mm512_test_epi32_mask(v, v); }
TENFOLD_INLINE vi mask_to_01(vmask m) { return _mm512_maskz_set1_epi32(m, 1); }
TENFOLD_INLINE bool any(vmask m) { return m != 0; }
TENFOLD_INLINE float sum(vf v) {
  const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
TENFOLD_INLINE vf load_half(const std::uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
TENFOLD_INLINE void store_half(std::uint16_t* p, vf v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
TENFOLD_INLINE vi widen_u16(const std::uint16_t* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
TENFOLD_INLINE void narrow16(std::uint16_t* p, vi v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(v)); }
TENFOLD_INLINE vf permute(vf v, vi index) { return _mm512_permutexvar_ps(index, v); }
TENFOLD_INLINE vf gather(const float* p, vi index) { return _mm512_i32gather_ps(index, p, 4); }

#else  // AVX2
constexpr int kLanes = 8;
using vf = __m256;
using vi = __m256i;
using vmask = __m256;  // all bits of a lane set or none

alignas(64) static const std::int32_t kLaneMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
TENFOLD_INLINE vi lane_mask(std::int64_t n) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMasks + 8 - n)); }
TENFOLD_INLINE vmask lanes(std::int64_t n) { return _mm256_castsi256_ps(lane_mask(n)); }
TENFOLD_INLINE vf zero() { return _mm256_setzero_ps(); }
TENFOLD_INLINE vf set1(float x) { return _mm256_set1_ps(x); }
TENFOLD_INLINE vi set1i(std::int32_t x) { return _mm256_set1_epi32(x); }
TENFOLD_INLINE vf load(const float* p) { return _mm256_loadu_ps(p); }
TENFOLD_INLINE vf load_n(const float* p, std::int64_t n) { return _mm256_maskload_ps(p, lane_mask(n)); }
TENFOLD_INLINE void store(float* p, vf v) { _mm256_storeu_ps(p, v); }
TENFOLD_INLINE void store_n(float* p, vf v, std::int64_t n) { _mm256_maskstore_ps(p, lane_mask(n), v); }
TENFOLD_INLINE vf load_if(const float* p, vmask m) { return _mm256_maskload_ps(p, _mm256_castps_si256(m)); }
TENFOLD_INLINE void store_if(float* p, vf v, vmask m) { _mm256_maskstore_ps(p, _mm256_castps_si256(m), v); }
TENFOLD_INLINE void store_if_low(float* p, vf v, vmask m) { store_if(p, v, m); }
TENFOLD_INLINE vi loadi(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
TENFOLD_INLINE vi loadi_n(const std::int32_t* p, std::int64_t n) { return _mm256_maskload_epi32(p, lane_mask(n)); }
TENFOLD_INLINE void storei(std::int32_t* p, vi v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
TENFOLD_INLINE void storei_n(std::int32_t* p, vi v, std::int64_t n) { _mm256_maskstore_epi32(p, lane_mask(n), v); }
TENFOLD_INLINE vf add(vf a, vf b) { return _mm256_add_ps(a, b); }
TENFOLD_INLINE vf sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
TENFOLD_INLINE vf mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
TENFOLD_INLINE vf div(vf a, vf b) { return _mm256_div_ps(a, b); }
TENFOLD_INLINE vf fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }    // a * b + c
TENFOLD_INLINE vf fnma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a * b
TENFOLD_INLINE vf min(vf a, vf b) { return _mm256_min_ps(a, b); }               // b if either is NaN
TENFOLD_INLINE vf max(vf a, vf b) { return _mm256_max_ps(a, b); }
TENFOLD_INLINE vf sqrt(vf a) { return _mm256_sqrt_ps(a); }
TENFOLD_INLINE vf floor(vf a) { return _mm256_floor_ps(a); }
TENFOLD_INLINE vf ceil(vf a) { return _mm256_ceil_ps(a); }
TENFOLD_INLINE vf round_even(vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
TENFOLD_INLINE vf trunc(vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
TENFOLD_INLINE vf bits_and(vf a, vf b) { return _mm256_and_ps(a, b); }
TENFOLD_INLINE vf bits_or(vf a, vf b) { return _mm256_or_ps(a, b); }
TENFOLD_INLINE vf bits_andnot(vf a, vf b) { return _mm256_andnot_ps(a, b); }  // ~a & b
TENFOLD_INLINE vf bits_xor(vf a, vf b) { return _mm256_xor_ps(a, b); }
TENFOLD_INLINE vf as_float(vi a) { return _mm256_castsi256_ps(a); }
TENFOLD_INLINE vi as_int(vf a) { return _mm256_castps_si256(a); }
TENFOLD_INLINE vf to_float(vi a) { return _mm256_cvtepi32_ps(a); }
TENFOLD_INLINE vi to_int(vf a) { return _mm256_cvtps_epi32(a); }  // nearest even
TENFOLD_INLINE vi to_int_trunc(vf a) { return _mm256_cvttps_epi32(a); }
TENFOLD_INLINE vi addi(vi a, vi b) { return _mm256_add_epi32(a, b); }
TENFOLD_INLINE vi subi(vi a, vi b) { return _mm256_sub_epi32(a, b); }
TENFOLD_INLINE vi andi(vi a, vi b) { return _mm256_and_si256(a, b); }
TENFOLD_INLINE vi mini(vi a, vi b) { return _mm256_min_epi32(a, b); }
TENFOLD_INLINE vi maxi(vi a, vi b) { return _mm256_max_epi32(a, b); }
template <int kBits>
TENFOLD_INLINE vi shift_left(vi a) {
  return _mm256_slli_epi32(a, kBits);
}
template <int kBits>
TENFOLD_INLINE vi shift_right(vi a) {
  return _mm256_srai_epi32(a, kBits);
}
template <int kPredicate>
TENFOLD_INLINE vmask compare(vf a, vf b) {
  return _mm256_cmp_ps(a, b, kPredicate);
}
TENFOLD_INLINE vf blend(vf a, vf b, vmask m) { return _mm256_blendv_ps(a, b, m); }  // m ? b : a
TENFOLD_INLINE vi widen_u8(const std::uint8_t* p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))); }
TENFOLD_INLINE vi widen_i8(const std::int8_t* p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))); }
TENFOLD_INLINE __m128i low_halves(vi v) {  // the low 16 bits of each lane
  const __m256i order =
      _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i s = _mm256_shuffle_epi8(v, order);
  return _mm_unpacklo_epi64(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
}
TENFOLD_INLINE void narrow(std::uint8_t* p, vi v) {  // low bytes
  const __m128i h = low_halves(v);
  const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_shuffle_epi8(h, order));
}
TENFOLD_INLINE vmask nonzero(vi v) {
  return _mm256_castsi256_ps(_mm256_xor_si256(_mm256_cmpeq_epi32(v, _mm256_setzero_si256()), _mm256_set1_epi32(-1)));
}
TENFOLD_INLINE vi mask_to_01(vmask m) { return _mm256_srli_epi32(_mm256_castps_si256(m), 31); }
TENFOLD_INLINE bool any(vmask m) { return _mm256_movemask_ps(m) != 0; }
TENFOLD_INLINE float sum(vf v) {
  const __m128 b = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
TENFOLD_INLINE vf load_half(const std::uint16_t* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
TENFOLD_INLINE void store_half(std::uint16_t* p, vf v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
TENFOLD_INLINE vi widen_u16(const std::uint16_t* p) { return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
TENFOLD_INLINE void narrow16(std::uint16_t* p, vi v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), low_halves(v)); }
TENFOLD_INLINE vf permute(vf v, vi index) { return _mm256_permutevar8x32_ps(v, index); }
TENFOLD_INLINE vf gather(const float* p, vi index) { return _mm256_i32gather_ps(p, index, 4); }
#endif

// Four floats, of which the first n are touched in memory.
using four = __m128;
TENFOLD_INLINE four set4(float x) { return _mm_set1_ps(x); }
TENFOLD_INLINE four add4(four a, four b) { return _mm_add_ps(a, b); }
TENFOLD_INLINE four mul4(four a, four b) { return _mm_mul_ps(a, b); }
TENFOLD_INLINE four min4(four a, four b) { return _mm_min_ps(a, b); }  // b if either is NaN
TENFOLD_INLINE four max4(four a, four b) { return _mm_max_ps(a, b); }
TENFOLD_INLINE four load4(const float* p, int n) {
  if (n == 4) return _mm_loadu_ps(p);
  const four first = n == 1 ? _mm_load_ss(p) : _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(p)));
  return n == 3 ? _mm_movelh_ps(first, _mm_load_ss(p + 2)) : first;
}
TENFOLD_INLINE void store4(float* p, four v, int n) {
  if (n == 4) return _mm_storeu_ps(p, v);
  if (n == 1) return _mm_store_ss(p, v);
  _mm_storel_pi(reinterpret_cast<__m64*>(p), v);
  if (n == 3) _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
}
#if defined(__AVX512F__)
TENFOLD_INLINE __m256 fold(vf v) { return _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)); }
#else
TENFOLD_INLINE __m256 fold(vf v) { return v; }
#endif
TENFOLD_INLINE four sum4(vf a, vf b, vf c, vf d) {  // of the lanes of each
  const __m256 s = _mm256_hadd_ps(_mm256_hadd_ps(fold(a), fold(b)), _mm256_hadd_ps(fold(c), fold(d)));
  return _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
}

// The value in a register: compilers like to load it again for each use.
TENFOLD_INLINE vf held(vf v) {
  asm("" : "+v"(v));
  return v;
}
TENFOLD_INLINE vf sign_bits() { return as_float(set1i(static_cast<std::int32_t>(0x80000000u))); }
TENFOLD_INLINE vf abs(vf a) { return bits_andnot(sign_bits(), a); }
// Minimum and maximum as ONNX and numpy have them: NaN if either is NaN.
TENFOLD_INLINE vf min_nan(vf a, vf b) { return blend(min(a, b), a, compare<_CMP_UNORD_Q>(a, a)); }
TENFOLD_INLINE vf max_nan(vf a, vf b) { return blend(max(a, b), a, compare<_CMP_UNORD_Q>(a, a)); }
// The largest and smallest lane; used where lanes hold no NaN or where NaN is looked for separately.
TENFOLD_INLINE float max_lane(vf v) {
#if defined(__AVX512F__)
  const __m256 a = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
#else
  const __m256 a = v;
#endif
  const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(c, _mm_shuffle_ps(c, c, 1)));
}

}  // namespace tenfold::simd
