// Products of up to 32 values of k with AVX512_VNNI: 16 to 24 vectors of weights lie in registers for all rows, and each row's sums become
// bytes there. In tiles of many rows, sums of so few steps would wait for memory longer than for products.
#include "backends/cpu/kernels/int8/int8_small_n.h"

#include <immintrin.h>

namespace tenfold::backends::cpu {
namespace {

#define INLINE __attribute__((always_inline)) inline

// What epilogues need: read anew for each row, for registers hold weights.
struct Epilogue {
  const float *scale, *bias;
  const std::int32_t* init;
  __m512i lower, upper, zero, flip, order;
  bool clamps;   // beyond what bytes do
  explicit Epilogue(const Int8EpilogueArgs& f) : scale(f.scale), bias(f.bias), init(nullptr) {
    const bool is_signed = f.result.type == Int8Type::i8;
    const float bottom = (is_signed ? -128.0f : 0.0f) - f.result.zero, top = bottom + 255;
    clamps = f.result.clamp.low <= f.result.clamp.high && (f.result.clamp.low > bottom || f.result.clamp.high < top);
    // Rounding keeps order: whole numbers are clamped to the rounded bounds.
    lower = _mm512_set1_epi16(static_cast<short>(__builtin_nearbyintf(f.result.clamp.low)));
    upper = _mm512_set1_epi16(static_cast<short>(__builtin_nearbyintf(f.result.clamp.high)));
    // Unsigned bytes are packed as signed ones that are 128 less.
    zero = _mm512_set1_epi16(static_cast<short>(f.result.zero - (is_signed ? 0 : 128)));
    flip = _mm512_set1_epi8(is_signed ? 0 : static_cast<char>(0x80));
    order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  }
  template <bool kClamps>
  INLINE __m512i words(__m512i a, __m512i b, int v) const {
    const auto scaled = [&](__m512i x, int i) __attribute__((always_inline)) {
      return _mm512_cvtps_epi32(
          _mm512_fmadd_ps(_mm512_cvtepi32_ps(x), _mm512_loadu_ps(scale + 16 * i), _mm512_loadu_ps(bias + 16 * i)));
    };
    __m512i y = _mm512_packs_epi32(scaled(a, v), scaled(b, v + 1));
    if constexpr (kClamps) y = _mm512_min_epi16(_mm512_max_epi16(y, lower), upper);
    return _mm512_adds_epi16(y, zero);
  }
  // Each quarter of packed bytes holds four columns of each vector.
  INLINE __m512i bytes(__m512i first, __m512i last) const {
    return _mm512_permutexvar_epi32(order, _mm512_xor_si512(_mm512_packs_epi16(first, last), flip));
  }
};

template <int Groups, int Vectors, bool kClamps>
void run(const Int8SmallN& f, Epilogue epilogue, std::int64_t column) {
  const char *a = f.a, *b = f.b + column * Groups * 4;
  char* out = f.out + column;
  epilogue.scale += column, epilogue.bias += column, epilogue.init = f.init + column;
  __m512i weights[Groups][Vectors];
#pragma GCC unroll 8
  for (int g = 0; g < Groups; ++g)
#pragma GCC unroll 6
    for (int v = 0; v < Vectors; ++v) weights[g][v] = _mm512_loadu_si512(b + v / 2 * Groups * 128 + (2 * g + v % 2) * 64);
  for (std::int64_t r = 0; r < f.rows; ++r, a += f.a_stride, out += f.out_stride) {
    const Epilogue* e = &epilogue;
    asm volatile("" : "+r"(e)::"memory");
    __m512i sums[Vectors];
#pragma GCC unroll 6
    for (int v = 0; v < Vectors; ++v) sums[v] = _mm512_loadu_si512(e->init + 16 * v);
#pragma GCC unroll 8
    for (int g = 0; g < Groups; ++g) {
      std::int32_t four;
      __builtin_memcpy(&four, a + 4 * g, 4);
      const __m512i x = _mm512_set1_epi32(four);
#pragma GCC unroll 6
      for (int v = 0; v < Vectors; ++v) sums[v] = _mm512_dpbusd_epi32(sums[v], x, weights[g][v]);
    }
    if constexpr (Vectors >= 4)
      _mm512_storeu_si512(out, e->bytes(e->template words<kClamps>(sums[0], sums[1], 0), e->template words<kClamps>(sums[2], sums[3], 2)));
    if constexpr (Vectors % 4 == 2) {
      const __m512i last = e->template words<kClamps>(sums[Vectors - 2], sums[Vectors - 1], Vectors - 2);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + (Vectors - 2) * 16), _mm512_castsi512_si256(e->bytes(last, last)));
    }
  }
}

template <int Groups, bool kClamps>
void columns(const Int8SmallN& f, const Epilogue& epilogue) {
  std::int64_t column = 0;
  if constexpr (Groups * 6 <= 24)
    for (; column + 96 <= f.columns; column += 96) run<Groups, 6, kClamps>(f, epilogue, column);
  if constexpr (Groups * 4 <= 24)
    for (; column + 64 <= f.columns; column += 64) run<Groups, 4, kClamps>(f, epilogue, column);
  for (; column < f.columns; column += 32) run<Groups, 2, kClamps>(f, epilogue, column);
}

template <bool kClamps>
void groups(const Int8SmallN& f, const Epilogue& epilogue) {
  switch (f.groups) {
    case 1: return columns<1, kClamps>(f, epilogue);
    case 2: return columns<2, kClamps>(f, epilogue);
    case 3: return columns<3, kClamps>(f, epilogue);
    case 4: return columns<4, kClamps>(f, epilogue);
    case 5: return columns<5, kClamps>(f, epilogue);
    case 6: return columns<6, kClamps>(f, epilogue);
    case 7: return columns<7, kClamps>(f, epilogue);
    default: return columns<8, kClamps>(f, epilogue);
  }
}

void few(const Int8SmallN& f) {
  const Epilogue epilogue(*f.epilogue);
  epilogue.clamps ? groups<true>(f, epilogue) : groups<false>(f, epilogue);
}

}  // namespace

extern "C" const Int8SmallNFunction TENFOLD_TABLE(int8_small_n) = few;

}  // namespace tenfold::backends::cpu
