// Joins of pooling windows: over channels where they are innermost, along output rows where they are not.
#include "backends/cpu/kernels/pool/pool.h"

#include "backends/cpu/simd/bf16.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

template <bool kMax>
TENFOLD_INLINE vf join(vf a, vf b) {
  return kMax ? max_nan(a, b) : add(a, b);
}

template <bool kMax, class T>
void position(const T* x, const int64_t* offsets, int64_t taps, int64_t channels, T* out, float scale) {
  const vf s = set1(scale);
  int64_t c = 0;
  for (; c + 2 * kLanes <= channels; c += 2 * kLanes) {
    vf a = load_any(x + offsets[0] + c), b = load_any(x + offsets[0] + c + kLanes);
    for (int64_t t = 1; t < taps; ++t) {
      a = join<kMax>(a, load_any(x + offsets[t] + c));
      b = join<kMax>(b, load_any(x + offsets[t] + c + kLanes));
    }
    store_any(out + c, kMax ? a : mul(a, s));
    store_any(out + c + kLanes, kMax ? b : mul(b, s));
  }
  for (; c < channels; c += kLanes) {
    const int64_t n = channels - c < kLanes ? channels - c : kLanes;
    vf a = load_any(x + offsets[0] + c, n);
    for (int64_t t = 1; t < taps; ++t) a = join<kMax>(a, load_any(x + offsets[t] + c, n));
    store_any(out + c, kMax ? a : mul(a, s), n);
  }
}
#if defined(__AVX512BW__)
// bf16 as signed integers in the order of numbers, and back. NaN with a sign comes below all others.
TENFOLD_INLINE __m512i in_order(__m512i v) {
  return _mm512_ternarylogic_epi64(v, _mm512_srai_epi16(v, 15), _mm512_set1_epi16(0x7fff), 0x78);   // v ^ (sign & 0x7fff)
}
// False if there is a NaN.
TENFOLD_INLINE bool max_block_bf16(const std::uint16_t* x, const int64_t* offsets, int64_t taps, __mmask32 lanes, std::uint16_t* out) {
  const __m512i no_sign = _mm512_set1_epi16(0x7fff), infinity = _mm512_set1_epi16(0x7f80);
  __m512i v = _mm512_maskz_loadu_epi16(lanes, x + offsets[0]), largest = in_order(v), size = _mm512_and_si512(v, no_sign);
  for (int64_t t = 1; t < taps; ++t) {
    v = _mm512_maskz_loadu_epi16(lanes, x + offsets[t]);
    largest = _mm512_max_epi16(largest, in_order(v));
    size = _mm512_max_epu16(size, _mm512_and_si512(v, no_sign));
  }
  if (_mm512_cmpgt_epu16_mask(size, infinity) != 0) return false;
  _mm512_mask_storeu_epi16(out, lanes, in_order(largest));
  return true;
}
#endif
void max_position_bf16(const std::uint16_t* x, const int64_t* offsets, int64_t taps, int64_t channels, std::uint16_t* out, float scale) {
#if defined(__AVX512BW__)
  for (int64_t c = 0; c < channels; c += 32) {
    const int64_t n = channels - c < 32 ? channels - c : 32;
    if (!max_block_bf16(x + c, offsets, taps, ~__mmask32{0} >> (32 - n), out + c)) position<true>(x + c, offsets, taps, n, out + c, scale);
  }
#else
  position<true>(x, offsets, taps, channels, out, scale);
#endif
}
template <class T>
TENFOLD_INLINE __m256i max_bytes(__m256i a, __m256i b) {
  return T(-1) < T(0) ? _mm256_max_epi8(a, b) : _mm256_max_epu8(a, b);
}
template <class T>
TENFOLD_INLINE __m128i max_bytes(__m128i a, __m128i b) {
  return T(-1) < T(0) ? _mm_max_epi8(a, b) : _mm_max_epu8(a, b);
}
// The maximum over taps of as many bytes as V holds.
template <class V, class T>
TENFOLD_INLINE void max_block(const T* x, const int64_t* offsets, int64_t taps, T* out) {
  V largest, next;
  __builtin_memcpy(&largest, x + offsets[0], sizeof(V));
  for (int64_t t = 1; t < taps; ++t) {
    __builtin_memcpy(&next, x + offsets[t], sizeof(V));
    largest = max_bytes<T>(largest, next);
  }
  __builtin_memcpy(out, &largest, sizeof(V));
}
template <class T>
void max_position(const T* x, const int64_t* offsets, int64_t taps, int64_t channels, T* out, float) {
  int64_t c = 0;
  for (; c + 32 <= channels; c += 32) max_block<__m256i>(x + c, offsets, taps, out + c);
  for (; c + 16 <= channels; c += 16) max_block<__m128i>(x + c, offsets, taps, out + c);
  if (c == channels) return;
  if (channels >= 16) return max_block<__m128i>(x + channels - 16, offsets, taps, out + channels - 16);   // some of them once more
  for (; c < channels; ++c) {
    out[c] = x[offsets[0] + c];
    for (int64_t t = 1; t < taps; ++t) out[c] = x[offsets[t] + c] > out[c] ? x[offsets[t] + c] : out[c];
  }
}

template <bool kMax, class T>
TENFOLD_INLINE T join_one(T a, T b) {
  if constexpr (!kMax)
    return a + b;
  else
    return b != b || b > a ? b : a;  // NaN in a stays: it compares false with everything
}
template <bool kMax, class T>
TENFOLD_INLINE void along(T* out, const T* x, int64_t stride, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) out[i] = join_one<kMax>(out[i], x[i * stride]);
}
template <bool kMax, class T>
void row(T* out, const T* x, int64_t stride, int64_t count) {  // small strides as constants, so that loads become shuffles
  if (stride == 1)
    along<kMax>(out, x, 1, count);
  else if (stride == 2)
    along<kMax>(out, x, 2, count);
  else
    along<kMax>(out, x, stride, count);
}

// Every second element of 2 * kLanes.
TENFOLD_INLINE vf load_even(const float* x) {
#if defined(__AVX512F__)
  const vi even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(load(x), even, load(x + kLanes));
#else
  const __m256d pairs = _mm256_castps_pd(_mm256_shuffle_ps(load(x), load(x + kLanes), 0x88));
  return _mm256_castpd_ps(_mm256_permute4x64_pd(pairs, 0xd8));
#endif
}
// The same of the first `n`, of which 2 * n - 1 elements are read.
TENFOLD_INLINE vf load_even(const float* x, int64_t n) {
  alignas(64) float both[2 * kLanes];
  const int64_t count = 2 * n - 1;
  store(both, load_n(x, count < kLanes ? count : kLanes));
  store(both + kLanes, count > kLanes ? load_n(x + kLanes, count - kLanes) : zero());
  return load_even(both);
}
template <bool kMax>
void row_f32(float* out, const float* x, int64_t stride, int64_t count) {
  int64_t i = 0;
  if (stride == 1) {
    for (; i + kLanes <= count; i += kLanes) store(out + i, join<kMax>(load(out + i), load(x + i)));
    if (const int64_t n = count - i; n > 0) store_n(out + i, join<kMax>(load_n(out + i, n), load_n(x + i, n)), n);
    return;
  }
  if (stride == 2) {  // the last element read is 2 * kLanes - 1 further: one more output must follow
    for (; i + kLanes < count; i += kLanes) store(out + i, join<kMax>(load(out + i), load_even(x + 2 * i)));
    if (const int64_t n = count - i; n > 0) store_n(out + i, join<kMax>(load_n(out + i, n), load_even(x + 2 * i, n)), n);
    return;
  }
  for (; i < count; ++i) out[i] = join_one<kMax>(out[i], x[i * stride]);
}

// kRows: so many rows; 0: any number.
template <bool kMax, int kRows>
void join_rows(float* out, const float* x, const int64_t* rows, int64_t row_count, int64_t count) {
  const auto block = [&](int64_t i, auto&& read) __attribute__((always_inline)) {
    vf v = read(x + rows[0] + i);
#pragma GCC unroll 4
    for (int64_t r = 1; r < (kRows ? kRows : row_count); ++r) v = join<kMax>(v, read(x + rows[r] + i));
    return v;
  };
  const auto whole = [&](int64_t i) __attribute__((always_inline)) { store(out + i, block(i, [](const float* p) { return load(p); })); };
  if (count < kLanes) return store_n(out, block(0, [&](const float* p) { return load_n(p, count); }), count);
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) whole(i);
  if (count % kLanes) whole(count - kLanes);   // some of them once more: that is faster than a mask
}
template <bool kMax>
void rows_f32(float* out, const float* x, const int64_t* rows, int64_t row_count, int64_t count) {
  switch (row_count) {
    case 2: return join_rows<kMax, 2>(out, x, rows, row_count, count);
    case 3: return join_rows<kMax, 3>(out, x, rows, row_count, count);
    case 4: return join_rows<kMax, 4>(out, x, rows, row_count, count);
    default: return join_rows<kMax, 0>(out, x, rows, row_count, count);
  }
}

// kTaps: so many taps; 0: any number.
template <bool kMax, int kTaps>
void join_windows(float* out, const float* x, int64_t taps, int64_t dilation, int64_t stride, int64_t count, const float* scales) {
  const auto block = [&](int64_t i, auto&& read) __attribute__((always_inline)) {
    vf v = read(x + i * stride);
#pragma GCC unroll 4
    for (int64_t t = 1; t < (kTaps ? kTaps : taps); ++t) v = join<kMax>(v, read(x + i * stride + t * dilation));
    return v;
  };
  const auto whole = [&](int64_t i, auto&& read) __attribute__((always_inline)) {
    const vf v = block(i, read);
    store(out + i, kMax ? v : mul(v, load(scales + i)));
  };
  const auto dense = [](const float* p) { return load(p); };
  const auto even = [](const float* p) { return load_even(p); };
  int64_t i = 0;
  if (stride == 1) {
    for (; i + kLanes <= count; i += kLanes) whole(i, dense);
    if (i < count && i > 0) return whole(count - kLanes, dense);
  } else {
    for (; i + kLanes < count; i += kLanes) whole(i, even);   // the last element read is 2 * kLanes - 1 further
  }
  const int64_t n = count - i;
  if (n == 0) return;
  const vf v = block(i, [&](const float* p) { return stride == 1 ? load_n(p, n) : load_even(p, n); });
  store_n(out + i, kMax ? v : mul(v, load_n(scales + i, n)), n);
}
template <bool kMax>
void windows_f32(float* out, const float* x, int64_t taps, int64_t dilation, int64_t stride, int64_t count, const float* scales) {
  switch (taps) {
    case 2: return join_windows<kMax, 2>(out, x, taps, dilation, stride, count, scales);
    case 3: return join_windows<kMax, 3>(out, x, taps, dilation, stride, count, scales);
    default: return join_windows<kMax, 0>(out, x, taps, dilation, stride, count, scales);
  }
}

void max_row_bf16(std::uint16_t* out, const std::uint16_t* x, int64_t stride, int64_t count) {
  const auto wide = [](std::uint16_t bits) {
    float f;
    const std::uint32_t all = std::uint32_t{bits} << 16;
    __builtin_memcpy(&f, &all, 4);
    return f;
  };
  int64_t i = 0;
  if (stride == 1)
    for (; i + kLanes <= count; i += kLanes) store_any(out + i, max_nan(load_any(out + i), load_any(x + i)));
  for (; i < count; ++i) {
    const float a = wide(out[i]), b = wide(x[i * stride]);
    if (b != b || b > a) out[i] = x[i * stride];
  }
}

template <Reduce kHow>
TENFOLD_INLINE vf take(vf acc, vf x) {
  if constexpr (kHow == Reduce::sum)
    return add(acc, x);
  else if constexpr (kHow == Reduce::max)
    return max_nan(acc, x);
  else if constexpr (kHow == Reduce::min)
    return min_nan(acc, x);
  else if constexpr (kHow == Reduce::squares)
    return fma(x, x, acc);
  else
    return add(acc, simd::abs(x));
}
template <Reduce kHow>
TENFOLD_INLINE vf merge(vf a, vf b) {  // of two partial results
  return take < kHow == Reduce::max || kHow == Reduce::min ? kHow : Reduce::sum > (a, b);
}
template <Reduce kHow>
TENFOLD_INLINE vf start() {
  return set1(kHow == Reduce::max ? -__builtin_inff() : kHow == Reduce::min ? __builtin_inff() : 0.f);
}

template <Reduce kHow, class T>
void columns(float* acc, const T* x, int64_t row_stride, int64_t rows, int64_t cols, bool first) {
  int64_t c = 0;
  for (; c + 4 * kLanes <= cols; c += 4 * kLanes) {
    vf a[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) a[i] = first ? start<kHow>() : load(acc + c + i * kLanes);
    for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) a[i] = take<kHow>(a[i], load_any(x + r * row_stride + c + i * kLanes));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store(acc + c + i * kLanes, a[i]);
  }
  for (; c < cols; c += kLanes) {
    const int64_t n = cols - c < kLanes ? cols - c : kLanes;
    vf a = first ? start<kHow>() : load_n(acc + c, n);
    for (int64_t r = 0; r < rows; ++r) a = take<kHow>(a, load_any(x + r * row_stride + c, n));
    store_n(acc + c, a, n);
  }
}

template <Reduce kHow, class T>
float reduce_row(const T* x, int64_t count) {
  vf a = start<kHow>(), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a = take<kHow>(a, load_any(x + i));
    b = take<kHow>(b, load_any(x + i + kLanes));
    c = take<kHow>(c, load_any(x + i + 2 * kLanes));
    d = take<kHow>(d, load_any(x + i + 3 * kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) a = take<kHow>(a, load_any(x + i));
  if (i < count) b = blend(b, take<kHow>(b, load_any(x + i, count - i)), lanes(count - i));
  float lane[2 * kLanes];
  store(lane, merge<kHow>(merge<kHow>(a, b), merge<kHow>(c, d)));
  for (int half = kLanes / 2; half; half /= 2) {
    store(lane + kLanes, load_n(lane + half, half));
    store(lane, merge<kHow>(load(lane), load(lane + kLanes)));
  }
  return lane[0];
}

}  // namespace

extern "C" constinit const PoolKernels TENFOLD_TABLE(pool) = {position<true, float>,
                                                              position<false, float>,
                                                              max_position_bf16,
                                                              position<false, std::uint16_t>,
                                                              max_position<std::uint8_t>,
                                                              max_position<std::int8_t>,
                                                              row_f32<true>,
                                                              row_f32<false>,
                                                              max_row_bf16,
                                                              row<true, std::uint8_t>,
                                                              row<true, std::int8_t>,
                                                              rows_f32<true>,
                                                              rows_f32<false>,
                                                              windows_f32<true>,
                                                              windows_f32<false>};
#define REDUCTIONS(T)                                                                                                   \
  {{columns<Reduce::sum, T>, columns<Reduce::max, T>, columns<Reduce::min, T>, columns<Reduce::squares, T>,             \
    columns<Reduce::absolutes, T>},                                                                                     \
   {reduce_row<Reduce::sum, T>, reduce_row<Reduce::max, T>, reduce_row<Reduce::min, T>, reduce_row<Reduce::squares, T>, \
    reduce_row<Reduce::absolutes, T>}}
extern "C" constinit const ReduceKernels TENFOLD_TABLE(reduce) = {REDUCTIONS(float), REDUCTIONS(std::uint16_t)};
#undef REDUCTIONS

}  // namespace tenfold::backends::cpu
