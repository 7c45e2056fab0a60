// Int8 products without VNNI: vpmaddubsw wherever the weights of a group cannot make it saturate, so that results stay exact.
//
// It takes four operations for 4 x lanes products, three where two groups fit together; widening both operands to 16 bits takes
// six. Which group goes which way is decided when weights are packed (Int8Class), not here.
#include <immintrin.h>

#include "backends/cpu/kernels/int8/int8_tile.h"

namespace tenfold::backends::cpu {
namespace {

#ifdef TENFOLD_ISA_avx512
struct Ops {
  using Vec = __m512i;
  static constexpr int lanes = 16, rows = 12;
  static Vec load(const void* p) { return _mm512_loadu_si512(p); }
  static void store(void* p, Vec v) { _mm512_storeu_si512(p, v); }
  static Vec broadcast(const char* p) { return _mm512_set1_epi32(*reinterpret_cast<const std::int32_t*>(p)); }
  static Vec words(int x) { return _mm512_set1_epi16(static_cast<short>(x)); }
  static Vec add(Vec a, Vec b) { return _mm512_add_epi32(a, b); }
  static Vec add_words(Vec a, Vec b) { return _mm512_add_epi16(a, b); }
  static Vec pairs(Vec a, Vec b) { return _mm512_maddubs_epi16(a, b); }
  static Vec madd(Vec a, Vec b) { return _mm512_madd_epi16(a, b); }
  static Vec flip(Vec a, Vec b) { return _mm512_xor_si512(a, b); }
  static Vec even(Vec a) { return _mm512_and_si512(a, words(0xFF)); }
  static Vec odd(Vec a) { return _mm512_srli_epi16(a, 8); }
  static Vec even_signed(Vec b) { return _mm512_srai_epi16(_mm512_slli_epi16(b, 8), 8); }
  static Vec odd_signed(Vec b) { return _mm512_srai_epi16(b, 8); }
};
#else
struct Ops {
  using Vec = __m256i;
  static constexpr int lanes = 8, rows = 6;
  static Vec load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static void store(void* p, Vec v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
  static Vec broadcast(const char* p) { return _mm256_set1_epi32(*reinterpret_cast<const std::int32_t*>(p)); }
  static Vec words(int x) { return _mm256_set1_epi16(static_cast<short>(x)); }
  static Vec add(Vec a, Vec b) { return _mm256_add_epi32(a, b); }
  static Vec add_words(Vec a, Vec b) { return _mm256_add_epi16(a, b); }
  static Vec pairs(Vec a, Vec b) { return _mm256_maddubs_epi16(a, b); }
  static Vec madd(Vec a, Vec b) { return _mm256_madd_epi16(a, b); }
  static Vec flip(Vec a, Vec b) { return _mm256_xor_si256(a, b); }
  static Vec even(Vec a) { return _mm256_and_si256(a, words(0xFF)); }
  static Vec odd(Vec a) { return _mm256_srli_epi16(a, 8); }
  static Vec even_signed(Vec b) { return _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8); }
  static Vec odd_signed(Vec b) { return _mm256_srai_epi16(b, 8); }
};
#endif

using Vec = Ops::Vec;

// Calls f(row, vector) for a whole register tile.
template <int Rows, int Vectors, class F>
__attribute__((always_inline)) inline void each(F&& f) {
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) f(r, v);
}

template <int Rows, int Vectors>
__attribute__((always_inline)) inline void ordered_tile(const char* a, std::int64_t stride, const char* b, const std::uint16_t* order,
                                                        const std::int32_t* init, std::int64_t init_stride, std::int32_t* c,
                                                        std::int64_t c_stride) {
  constexpr int kStep = Ops::lanes * 4, kGroup = Vectors * kStep;  // bytes of one vector and of one group of B
  const Vec ones = Ops::words(1);
  Vec acc[Rows][Vectors];
  each<Rows, Vectors>([&](int r, int v) { acc[r][v] = Ops::load(init + r * init_stride + v * Ops::lanes); });
  const std::uint16_t* at = order + kInt8Classes;
  for (const std::uint16_t* end = at + order[kInt8Twice]; at < end; at += 2, b += 2 * kGroup) {
    const char *first = a + at[0], *second = a + at[1];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const Vec x = Ops::broadcast(first + r * stride), y = Ops::broadcast(second + r * stride);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        const Vec sum = Ops::add_words(Ops::pairs(x, Ops::load(b + v * kStep)), Ops::pairs(y, Ops::load(b + kGroup + v * kStep)));
        acc[r][v] = Ops::add(acc[r][v], Ops::madd(sum, ones));
      }
    }
  }
  for (const std::uint16_t* end = at + order[kInt8Plain]; at < end; ++at, b += kGroup) {
    const char* from = a + *at;
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const Vec x = Ops::broadcast(from + r * stride);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[r][v] = Ops::add(acc[r][v], Ops::madd(Ops::pairs(x, Ops::load(b + v * kStep)), ones));
    }
  }
  const Vec odd_bytes = Ops::words(0xFF00);
  for (const std::uint16_t* end = at + order[kInt8Flipped]; at < end; ++at, b += kGroup) {
    const char* from = a + *at;
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const Vec x = Ops::flip(Ops::broadcast(from + r * stride), odd_bytes);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[r][v] = Ops::add(acc[r][v], Ops::madd(Ops::pairs(x, Ops::load(b + v * kStep)), ones));
    }
  }
  for (const std::uint16_t* end = at + order[kInt8Wide]; at < end; ++at, b += kGroup) {
    const char* from = a + *at;
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const Vec w = Ops::load(b + v * kStep), even = Ops::even_signed(w), odd = Ops::odd_signed(w);
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        const Vec x = Ops::broadcast(from + r * stride);
        acc[r][v] = Ops::add(acc[r][v], Ops::add(Ops::madd(Ops::even(x), even), Ops::madd(Ops::odd(x), odd)));
      }
    }
  }
  each<Rows, Vectors>([&](int r, int v) { Ops::store(c + r * c_stride + v * Ops::lanes, acc[r][v]); });
}

struct Ordered {
  static constexpr int lanes = Ops::lanes, rows = Ops::rows, last_rows = rows;
  template <int Rows, int Vectors>
  static void tile(Int8Strided a, const char* b, std::int64_t, const std::uint16_t* order, const std::int32_t* init,
                   std::int64_t init_stride, std::int32_t* c, std::int64_t c_stride) {
    ordered_tile<Rows, Vectors>(a.first, a.stride, b, order, init, init_stride, c, c_stride);
  }
};

void panel(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
           const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool, Int8Ahead) {
  int8_panel<Ordered>(rows, width, Int8Strided{a, a_stride}, b, k_groups, order, init, c, c_stride);
}

void expand(const void* source, std::int64_t count, bool is_signed, void* packed) {
  const auto* from = static_cast<const char*>(source);
  auto* to = static_cast<char*>(packed);
  const __m256i flip = _mm256_set1_epi8(is_signed ? static_cast<char>(0x80) : 0);
  std::int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_xor_si256(v, flip));
  }
  for (; i + 8 <= count; i += 8) {
    const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + i));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + i), _mm_xor_si128(v, _mm256_castsi256_si128(flip)));
  }
  for (; i < count; ++i) to[i] = is_signed ? static_cast<char>(from[i] ^ 0x80) : from[i];
}

}  // namespace

extern "C" const Int8Kernels TENFOLD_TABLE(int8) = {.mr = Ops::rows,
                                                    .nr = 2 * Ops::lanes,
                                                    .row_step = Ops::rows,
                                                    .whole_rows = 1,
                                                    .k_group = 4,
                                                    .k_step = 1,
                                                    .k_chunk = 1024,
                                                    .ordered = true,
                                                    .signed_shift = 128,
                                                    .expand_shifts = true,
                                                    .direct_unsigned = true,
                                                    .direct_signed = false,
                                                    .enter = nullptr,
                                                    .leave = nullptr,
                                                    .expand = expand,
                                                    .panel = panel,
                                                    .taps = nullptr,
                                                    .laid = nullptr,
                                                    .stream = nullptr};

}  // namespace tenfold::backends::cpu
