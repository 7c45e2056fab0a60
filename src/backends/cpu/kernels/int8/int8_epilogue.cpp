// The common epilogue of int8 products: accumulators to f32, scale, bias, clamp, residual, and back to 8 bits as QuantizeLinear defines it.
//
// Works on 16 columns at a time: two AVX2 vectors or one AVX-512 vector. Values come in units of what they are rounded to, so that
// nothing is divided here.
#include "backends/cpu/kernels/int8/int8.h"
#include "backends/cpu/simd/f32.h"
#include "backends/cpu/simd/math.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kVectors = 16 / simd::kLanes;
struct F16 {
  simd::vf v[kVectors];
};

template <class F>
TENFOLD_INLINE F16 each(F f) {
  F16 r;
#pragma GCC unroll 2
  for (int i = 0; i < kVectors; ++i) r.v[i] = f(i);
  return r;
}
TENFOLD_INLINE F16 set(float x) {
  return each([&](int) { return simd::set1(x); });
}
TENFOLD_INLINE F16 load(const float* p) {
  return each([&](int i) { return simd::load(p + i * simd::kLanes); });
}
TENFOLD_INLINE F16 load(const std::int32_t* p) {
  return each([&](int i) { return simd::to_float(simd::loadi(p + i * simd::kLanes)); });
}
TENFOLD_INLINE F16 load(const std::uint8_t* p) {
  return each([&](int i) { return simd::to_float(simd::widen_u8(p + i * simd::kLanes)); });
}
TENFOLD_INLINE F16 load(const std::int8_t* p) {
  return each([&](int i) { return simd::to_float(simd::widen_i8(p + i * simd::kLanes)); });
}
TENFOLD_INLINE F16 mul(F16 a, F16 b) {
  return each([&](int i) { return simd::mul(a.v[i], b.v[i]); });
}
TENFOLD_INLINE F16 add(F16 a, F16 b) {
  return each([&](int i) { return simd::add(a.v[i], b.v[i]); });
}
TENFOLD_INLINE F16 fma(F16 a, F16 b, F16 c) {
  return each([&](int i) { return simd::fma(a.v[i], b.v[i], c.v[i]); });
}
TENFOLD_INLINE F16 clamp(F16 x, F16 low, F16 high) {
  return each([&](int i) { return simd::min(simd::max(x.v[i], low.v[i]), high.v[i]); });
}
TENFOLD_INLINE F16 round_even(F16 x) {
  return each([&](int i) { return simd::round_even(x.v[i]); });
}
TENFOLD_INLINE void store(float* p, F16 x) {
#pragma GCC unroll 2
  for (int i = 0; i < kVectors; ++i) simd::store(p + i * simd::kLanes, x.v[i]);
}

// Rounded to integers, moved by `zero`, narrowed; values already lie in the range of the result.
TENFOLD_INLINE __m128i to_bytes(F16 x, std::int32_t zero, [[maybe_unused]] bool is_signed) {
#ifdef __AVX512F__
  return _mm512_cvtepi32_epi8(simd::addi(simd::to_int(x.v[0]), simd::set1i(zero)));
#else
  __m256i words = _mm256_packs_epi32(simd::to_int(x.v[0]), simd::to_int(x.v[1]));
  words = _mm256_add_epi16(_mm256_permute4x64_epi64(words, 0xD8), _mm256_set1_epi16(static_cast<short>(zero)));
  const __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
  return is_signed ? _mm_packs_epi16(low, high) : _mm_packus_epi16(low, high);
#endif
}

// Eight bytes, then zeros.
TENFOLD_INLINE simd::vf to_floats(__m128i bytes, bool is_signed) {
#ifdef __AVX512F__
  return simd::to_float(is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
#else
  return simd::to_float(is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
#endif
}
template <class R>
TENFOLD_INLINE F16 load_eight(const R* p) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return each([&](int i) { return i == 0 ? to_floats(bytes, R(-1) < R(0)) : simd::set1(0); });
}

// A residual of 16 values; the last columns of a row are read through a buffer, so that nothing beyond the row is touched. Eight bytes are
// not: a load that begins with a store of fewer waits for it.
template <class R>
TENFOLD_INLINE F16 load_some(const R* p, std::int64_t count) {
  if (count >= 16) return load(p);
  if constexpr (sizeof(R) == 1)
    if (count == 8) return load_eight(p);
  R padded[16] = {};
  if (count >= 8) __builtin_memcpy(padded, p, 8 * sizeof(R));
  for (std::int64_t i = count & 8; i < count; ++i) padded[i] = p[i];
  return load(padded);
}

// Stores up to 16 results of a row.
template <class T>
TENFOLD_INLINE void store_some(T* out, F16 y, [[maybe_unused]] std::int32_t zero, std::int64_t count) {
  T padded[16];
  if constexpr (sizeof(T) == 4) {
    if (count >= 16) return store(out, y);
    store(padded, y);
  } else {
    const __m128i bytes = to_bytes(y, zero, T(-1) < T(0));
    if (count >= 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(padded), bytes);
  }
  if (count >= 8) __builtin_memcpy(out, padded, 8 * sizeof(T));
  for (std::int64_t i = count & 8; i < count; ++i) out[i] = padded[i];
}

// 64 or 32 results: packing them together takes fewer operations than narrowing each vector, and clamps to the range of T.
// kClamps: also to [least, most], whole numbers, before the zero point is added.
#ifdef __AVX512F__
constexpr bool kWideBytes = true;
template <bool kClamps>
TENFOLD_INLINE __m512i to_words(F16 a, F16 b, __m512i lower, __m512i upper, __m512i zero) {
  __m512i words = _mm512_packs_epi32(simd::to_int(a.v[0]), simd::to_int(b.v[0]));
  if constexpr (kClamps) words = _mm512_min_epi16(_mm512_max_epi16(words, lower), upper);
  return _mm512_adds_epi16(words, zero);
}
template <bool kClamps, class T, int kWide>
TENFOLD_INLINE void store_wide(T* out, const F16 (&y)[kWide], std::int32_t low, std::int32_t high, std::int32_t zero) {
  const __m512i lower = _mm512_set1_epi16(static_cast<short>(low)), upper = _mm512_set1_epi16(static_cast<short>(high)),
                moved = _mm512_set1_epi16(static_cast<short>(zero));
  const __m512i first = to_words<kClamps>(y[0], y[1], lower, upper, moved);
  const __m512i last = kWide == 2 ? first : to_words<kClamps>(y[kWide - 2], y[kWide - 1], lower, upper, moved);
  const __m512i bytes = T(-1) < T(0) ? _mm512_packs_epi16(first, last) : _mm512_packus_epi16(first, last);
  // Each quarter now holds four columns of each vector.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i result = _mm512_permutexvar_epi32(order, bytes);
  if constexpr (kWide == 4)
    _mm512_storeu_si512(out, result);
  else
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(result));
}
#else
constexpr bool kWideBytes = false;
template <bool kClamps, class T, int kWide>
void store_wide(T*, const F16 (&)[kWide], std::int32_t, std::int32_t, std::int32_t);
#endif

enum Last { in_float, in_words, by_packing };

// T: type of the output, R: of the residual. Clamps: a clamp before the residual, or before a result of type f32.
template <class T, class R, bool Grid, bool Clamps, bool Middle, bool Gelu = false, bool Rows = false>
void epilogue_rows(const Int8EpilogueArgs& f, const std::int32_t* acc, std::int64_t acc_stride, std::int64_t rows, std::int64_t cols,
                   T* out, std::int64_t out_stride) {
  constexpr float kInfinity = __builtin_inff();
  constexpr bool kBytes = sizeof(T) == 1, kResidual = sizeof(R) != 16;
  const bool clamps2 = f.result.clamp.low <= f.result.clamp.high;
  const F16 low = set(f.clamp.low), high = set(f.clamp.high), middle_low = set(f.middle.low), middle_high = set(f.middle.high);
  const F16 middle_scale = set(f.middle_scale), residual_scale = set(f.residual.scale),
            residual_start = set(-f.residual.zero * f.residual.scale);
  const auto zero = static_cast<std::int32_t>(f.result.zero);
  // Of the second clamp and the saturation only the tighter one is needed.
  float bottom = -kInfinity, top = kInfinity;
  if (kBytes) bottom = (T(-1) < T(0) ? -128.f : 0.f) - f.result.zero, top = (T(-1) < T(0) ? 127.f : 255.f) - f.result.zero;
  float highest = clamps2 && f.result.clamp.high < top ? f.result.clamp.high : top;
  float lowest = clamps2 && f.result.clamp.low > bottom ? f.result.clamp.low : bottom;
  highest = highest < bottom ? bottom : highest;
  lowest = lowest > highest ? highest : lowest;
  const F16 lower = set(lowest), upper = set(highest);
  // Rounding keeps order: whole numbers are clamped to the rounded bounds.
  const std::int32_t low_word = kBytes ? static_cast<std::int32_t>(__builtin_nearbyintf(lowest)) : 0,
                     high_word = kBytes ? static_cast<std::int32_t>(__builtin_nearbyintf(highest)) : 0;
  const float *scale = f.scale, *bias = f.bias, *scale2 = f.grid.scale, *bias2 = f.grid.bias;
  const simd::Gelu gelu(Gelu ? f.gelu_scale : 1.f);
  const float last_scale = f.result.grid_scale;
  const F16 grid_low = set(f.grid.range.low), grid_high = set(f.grid.range.high);
  const auto* residual = static_cast<const R*>(f.residual.data);
  const std::int64_t residual_stride = f.residual.stride;
  // kWide x 16 columns of all rows: what belongs to the columns stays in registers. kLast: how bytes are clamped at last.
  const auto columns = [&]<int kWide, Last kLast>(std::int64_t j) __attribute__((always_inline)) {
    F16 scales[kWide], biases[kWide], scales2[kWide], biases2[kWide];
#pragma GCC unroll 4
    for (int w = 0; w < kWide; ++w) {
      scales[w] = load(scale + j + 16 * w), biases[w] = load(bias + j + 16 * w);
      if constexpr (Grid) scales2[w] = load(scale2 + j + 16 * w), biases2[w] = load(bias2 + j + 16 * w);
    }
    const std::int64_t left = cols - j;
    for (std::int64_t r = 0; r < rows; ++r) {
      F16 all[kWide];
#pragma GCC unroll 4
      for (int w = 0; w < kWide; ++w) {
        F16 sum = load(acc + r * acc_stride + j + 16 * w);
        if constexpr (Rows) sum = mul(sum, set(f.rows[r]));
        F16 y = fma(sum, scales[w], biases[w]);
        if constexpr (Gelu) y = each([&](int i) __attribute__((always_inline)) { return gelu(y.v[i]); });
        if constexpr (Grid) y = fma(clamp(round_even(y), grid_low, grid_high), scales2[w], biases2[w]);
        if constexpr (Clamps) y = clamp(y, low, high);
        if constexpr (Middle) y = clamp(round_even(y), middle_low, middle_high);
        if constexpr (kResidual) {
          const R* p = residual + r * residual_stride + j + 16 * w;
          const F16 other = fma(kWide > 1 ? load(p) : load_some(p, left), residual_scale, residual_start);
          y = Middle ? fma(y, middle_scale, other) : add(y, other);
        } else if constexpr (Middle) {
          y = mul(y, middle_scale);
        }
        if constexpr (!kBytes && kResidual)
          if (last_scale != 0) y = round_even(y);
        if constexpr ((kBytes || kResidual || Gelu) && kLast == in_float) y = clamp(y, lower, upper);
        if constexpr (!kBytes && kResidual)
          if (last_scale != 0) y = mul(y, set(last_scale));
        all[w] = y;
      }
      T* to = out + r * out_stride + j;
      if constexpr (kWide == 1)
        store_some(to, all[0], zero, left);
      else if constexpr (!kBytes) {
#pragma GCC unroll 4
        for (int w = 0; w < kWide; ++w) store(to + 16 * w, all[w]);
      } else
        store_wide<kLast == in_words>(to, all, low_word, high_word, zero);
    }
  };
  std::int64_t j = 0;
  const auto wide = [&]<Last kLast>() __attribute__((always_inline)) {
    for (; j + 64 <= cols; j += 64) columns.template operator()<4, kLast>(j);
    if (j + 32 <= cols) columns.template operator()<2, kLast>(j), j += 32;
  };
  if constexpr (kWideBytes && kBytes) {
    if (!f.result.small)
      wide.template operator()<in_float>();
    else if (lowest > bottom || highest < top)
      wide.template operator()<in_words>();
    else
      wide.template operator()<by_packing>();
  }
  if constexpr (!kBytes)   // whole lines of memory, row by row
    for (; j + 64 <= cols; j += 64) columns.template operator()<4, in_float>(j);
  for (; j < cols; j += 16) columns.template operator()<1, in_float>(j);
}

struct NoResidual {
  char none[16];
};

template <class T, class R, bool Grid>
auto* pick(const Int8EpilogueArgs& f) {
  if (f.middle_scale != 0) return epilogue_rows<T, R, Grid, false, true>;
  return f.clamp.low <= f.clamp.high ? epilogue_rows<T, R, Grid, true, false> : epilogue_rows<T, R, Grid, false, false>;
}

// Rows of A that have scales of their own.
template <class R>
void epilogue_of_rows(const Int8EpilogueArgs& f, const std::int32_t* acc, std::int64_t acc_stride, std::int64_t rows, std::int64_t cols,
                      float* out, std::int64_t out_stride) {
  if constexpr (sizeof(R) == sizeof(NoResidual)) {
    if (f.gelu_scale != 0)
      return epilogue_rows<float, R, false, false, false, true, true>(f, acc, acc_stride, rows, cols, out, out_stride);
  }
  auto* run = f.clamp.low <= f.clamp.high ? epilogue_rows<float, R, false, true, false, false, true>
                              : epilogue_rows<float, R, false, false, false, false, true>;
  run(f, acc, acc_stride, rows, cols, out, out_stride);
}

template <class T, class R>
void epilogue_with(const Int8EpilogueArgs& f, const std::int32_t* acc, std::int64_t acc_stride, std::int64_t rows, std::int64_t cols,
                   void* out, std::int64_t out_stride) {
  if constexpr (sizeof(R) == sizeof(NoResidual)) {
    if (f.gelu_scale != 0)
      return epilogue_rows<T, R, false, false, false, true>(f, acc, acc_stride, rows, cols, static_cast<T*>(out), out_stride);
  }
  auto* run = f.has_grid ? pick<T, R, true>(f) : pick<T, R, false>(f);
  run(f, acc, acc_stride, rows, cols, static_cast<T*>(out), out_stride);
}

template <class T>
void epilogue_as(const Int8EpilogueArgs& f, const std::int32_t* acc, std::int64_t acc_stride, std::int64_t rows, std::int64_t cols,
                 void* out, std::int64_t out_stride) {
  if (!f.residual.data) return epilogue_with<T, NoResidual>(f, acc, acc_stride, rows, cols, out, out_stride);
  switch (f.residual.type) {
    case Int8Type::f32: return epilogue_with<T, float>(f, acc, acc_stride, rows, cols, out, out_stride);
    case Int8Type::u8: return epilogue_with<T, std::uint8_t>(f, acc, acc_stride, rows, cols, out, out_stride);
    case Int8Type::i8: return epilogue_with<T, std::int8_t>(f, acc, acc_stride, rows, cols, out, out_stride);
  }
}

void epilogue(const Int8EpilogueArgs& f, const std::int32_t* acc, std::int64_t acc_stride, std::int64_t rows, std::int64_t cols, void* out,
              std::int64_t out_stride) {
  if (f.rows) {
    auto* run = f.residual.data ? epilogue_of_rows<float> : epilogue_of_rows<NoResidual>;
    return run(f, acc, acc_stride, rows, cols, static_cast<float*>(out), out_stride);
  }
  switch (f.result.type) {
    case Int8Type::f32: return epilogue_as<float>(f, acc, acc_stride, rows, cols, out, out_stride);
    case Int8Type::u8: return epilogue_as<std::uint8_t>(f, acc, acc_stride, rows, cols, out, out_stride);
    case Int8Type::i8: return epilogue_as<std::int8_t>(f, acc, acc_stride, rows, cols, out, out_stride);
  }
}

void start(const std::int32_t* constants, const std::int32_t* sums, std::int32_t zero, std::int64_t count, std::int32_t* to) {
  const auto factor = static_cast<std::uint32_t>(zero);   // wraps as the instructions do
  const auto less = [&](std::int32_t value, std::int32_t sum) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(value) - factor * static_cast<std::uint32_t>(sum));
  };
  if (constants)
    for (std::int64_t j = 0; j < count; ++j) to[j] = less(constants[j], sums[j]);
  else
    for (std::int64_t j = 0; j < count; ++j) to[j] = less(0, sums[j]);
}

template <class F>
TENFOLD_INLINE void combine_by(const float* values, int step, std::int64_t count, float* to, F f) {
  if (step == 0)
    for (std::int64_t j = 0; j < count; ++j) to[j] = f(to[j], *values);
  else
    for (std::int64_t j = 0; j < count; ++j) to[j] = f(to[j], values[j]);
}
void combine(bool multiply, const float* values, int step, std::int64_t count, float* to) {
  if (multiply)
    combine_by(values, step, count, to, [](float a, float b) { return a * b; });
  else
    combine_by(values, step, count, to, [](float a, float b) { return a + b; });
}

bool within(const float* values, float limit, std::int64_t count) {
  int beyond = 0;
  for (std::int64_t j = 0; j < count; ++j) beyond |= __builtin_fabsf(values[j]) <= limit ? 0 : 1;
  return beyond == 0;
}

}  // namespace

extern "C" const Int8EpilogueKernels TENFOLD_TABLE(int8_epilogue) = {
    .start = start, .combine = combine, .within = within, .epilogue = epilogue};

}  // namespace tenfold::backends::cpu
