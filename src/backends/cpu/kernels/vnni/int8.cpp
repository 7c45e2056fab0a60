// Int8 products with AVX512_VNNI: vpdpbusd multiplies four unsigned by four signed bytes into 32 bits without saturation.
//
// Signed values of A are made unsigned as they are loaded, by adding 128, for which the unit that multiplies is not needed; the tactic
// corrects for that with the sums of the weights' columns.
#include <immintrin.h>

#include <algorithm>

#include "backends/cpu/kernels/int8/int8_copy.h"
#include "backends/cpu/kernels/int8/int8_tile.h"

namespace tenfold::backends::cpu {
namespace {

// What each tile of a panel fetches: the bytes are spread over all of its steps, for many lines asked for at once take the buffers that
// the product's own loads need.
struct Ahead {
  const char* at;
  std::int64_t step;
  Ahead(Int8Ahead ahead, std::int64_t steps)
      : at(ahead.at), step(ahead.bytes > 0 ? std::min<std::int64_t>(64, (ahead.bytes + steps - 1) / steps) : 0) {}
  void advance(std::int64_t steps) { at += steps * step; }
};

// Rows of A, one `stride` behind the other, or in taps; k_groups of a row, or of a tap.
struct Strided : Int8Strided {
  Ahead ahead;
  Strided from(std::int64_t row, std::int64_t k_groups) const {
    Strided next{{first + row * stride, stride}, ahead};
    next.ahead.advance(k_groups);
    return next;
  }
};
struct Tapped {
  const Int8WindowTap* taps;
  std::int64_t count, row;
  Ahead ahead;
  Tapped from(std::int64_t rows, std::int64_t k_groups) const {
    Tapped next{taps, count, row + rows, ahead};
    next.ahead.advance(count * k_groups);
    return next;
  }
};

// Pointers to rows for the length of a tile: one for six rows, which lie multiples of the stride behind it that an address can name.
// GCC made each row's distance a value of its own, and fetched it from the stack in each step. Hidden from it: how they belong together.
template <int Rows>
struct RowPointers {
  static constexpr int kEach = 6, kCount = (Rows + kEach - 1) / kEach;
  const char* at[kCount];
  std::int64_t one, three, five;
  __attribute__((always_inline)) explicit RowPointers(Int8Strided a) : one(a.stride), three(3 * a.stride), five(5 * a.stride) {
    for (int g = 0; g < kCount; ++g) at[g] = a.first + g * kEach * a.stride;
    hide();
    asm("" : "+r"(three), "+r"(five));
  }
  __attribute__((always_inline)) void hide() {
#pragma GCC unroll 4
    for (int g = 0; g < kCount; ++g) asm("" : "+r"(at[g]));
  }
  __attribute__((always_inline)) void advance(std::int64_t bytes) {
#pragma GCC unroll 4
    for (int g = 0; g < kCount; ++g) at[g] += bytes;
  }
  __attribute__((always_inline)) const char* operator()(int r) const {
    const char* from = at[r / kEach];
    switch (r % kEach) {
      case 0: return from;
      case 1: return from + one;
      case 2: return from + 2 * one;
      case 3: return from + three;
      case 4: return from + 4 * one;
      default: return from + five;
    }
  }
};

template <bool Signed>
struct Quads {
  static constexpr int lanes = 16, rows = 12, last_rows = 13;
  // So many steps of k at once: a row's pointer serves them all. Their panels take registers.
  template <int Rows, int Vectors>
  static constexpr int together = Rows * Vectors <= 24 ? 2 : 1;

  // Steps of k: value(r) is where row r has the first one.
  template <int Steps, int Rows, int Vectors, class Value>
  __attribute__((always_inline)) static inline void step(__m512i (&acc)[Rows][Vectors], const char* b, __m512i flip, Value value) {
    __m512i panel[Steps][Vectors];
#pragma GCC unroll 2
    for (int s = 0; s < Steps; ++s)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) panel[s][v] = _mm512_loadu_si512(b + (s * Vectors + v) * lanes * 4);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const auto* from = reinterpret_cast<const std::int32_t*>(value(r));
#pragma GCC unroll 2
      for (int s = 0; s < Steps; ++s) {
        __m512i x = _mm512_set1_epi32(from[s]);
        if constexpr (Signed) x = _mm512_xor_si512(x, flip);
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], x, panel[s][v]);
      }
    }
  }

  template <int Rows, int Vectors>
  __attribute__((always_inline)) static inline void steps(__m512i (&acc)[Rows][Vectors], Strided a, const char* b,
                                                          std::int64_t k_groups) {
    constexpr int kSteps = together<Rows, Vectors>;
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
    const char* soon = a.ahead.at;
    RowPointers<Rows> at(a);
    for (; k_groups >= kSteps; k_groups -= kSteps, at.advance(4 * kSteps), b += kSteps * Vectors * lanes * 4) {
      at.hide();
#pragma GCC unroll 2
      for (int s = 0; s < kSteps; ++s, soon += a.ahead.step) _mm_prefetch(soon, _MM_HINT_T1);
      step<kSteps, Rows, Vectors>(acc, b, flip, at);
    }
    if (k_groups > 0) step<1, Rows, Vectors>(acc, b, flip, at);
  }

  template <int Rows, int Vectors>
  __attribute__((always_inline)) static inline void steps(__m512i (&acc)[Rows][Vectors], Tapped a, const char* b, std::int64_t k_groups) {
    constexpr int kSteps = together<Rows, Vectors>;
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
    const char* soon = a.ahead.at;
    for (const Int8WindowTap *tap = a.taps, *end = tap + a.count; tap < end; ++tap) {
      const char* const* from = tap->rows + a.row;
      std::int64_t k = tap->offset, left = k_groups;
      for (; left >= kSteps; left -= kSteps, k += 4 * kSteps, b += kSteps * Vectors * lanes * 4) {
#pragma GCC unroll 2
        for (int s = 0; s < kSteps; ++s, soon += a.ahead.step) _mm_prefetch(soon, _MM_HINT_T1);
        step<kSteps, Rows, Vectors>(acc, b, flip, [&](int r) { return from[r] + k; });
      }
      if (left > 0) step<1, Rows, Vectors>(acc, b, flip, [&](int r) { return from[r] + k; }), b += Vectors * lanes * 4;
    }
  }

  // Inlined: `a` stays in registers.
  template <int Rows, int Vectors, class A>
  __attribute__((always_inline)) static inline void tile(A a, const char* b, std::int64_t k_groups, const std::uint16_t*,
                                                         const std::int32_t* init, std::int64_t init_stride, std::int32_t* c,
                                                         std::int64_t c_stride) {
    __m512i acc[Rows][Vectors];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[r][v] = _mm512_loadu_si512(init + r * init_stride + v * lanes);
    steps<Rows, Vectors>(acc, a, b, k_groups);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) _mm512_storeu_si512(c + r * c_stride + v * lanes, acc[r][v]);
  }
};

std::int64_t steps_of(std::int64_t rows, std::int64_t k_groups) {
  return std::max((rows - 2) / Quads<false>::rows + 1, std::int64_t{1}) * std::max(k_groups, std::int64_t{1});
}

void panel(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
           const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead) {
  const Strided strided{{a, a_stride}, {ahead, steps_of(rows, k_groups)}};
  if (is_signed)
    int8_panel<Quads<true>>(rows, width, strided, b, k_groups, order, init, c, c_stride);
  else
    int8_panel<Quads<false>>(rows, width, strided, b, k_groups, order, init, c, c_stride);
}

void taps(std::int64_t rows, int width, const Int8WindowTap* taps, std::int64_t count, const char* b, std::int64_t k_groups,
          const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead) {
  const Tapped tapped{taps, count, 0, {ahead, steps_of(rows, count * k_groups)}};
  if (is_signed)
    int8_panel<Quads<true>>(rows, width, tapped, b, k_groups, nullptr, init, c, c_stride);
  else
    int8_panel<Quads<false>>(rows, width, tapped, b, k_groups, nullptr, init, c, c_stride);
}

}  // namespace

extern "C" const Int8Kernels TENFOLD_TABLE(int8) = {.mr = Quads<false>::rows,
                                                    .nr = 2 * Quads<false>::lanes,
                                                    .row_step = 1,
                                                    .whole_rows = 1,
                                                    .k_group = 4,
                                                    .k_step = 1,
                                                    .k_chunk = 1024,
                                                    .ordered = false,
                                                    .signed_shift = 128,
                                                    .expand_shifts = false,
                                                    .direct_unsigned = true,
                                                    .direct_signed = true,
                                                    .enter = nullptr,
                                                    .leave = nullptr,
                                                    .expand = int8_copy,
                                                    .panel = panel,
                                                    .taps = taps,
                                                    .laid = nullptr,
                                                    .stream = nullptr};

}  // namespace tenfold::backends::cpu
