// Int8 products with AVX512_VNNI: vpdpbusd multiplies four unsigned by four signed bytes into 32 bits without saturation.
//
// Signed values of A are made unsigned as they are loaded, by adding 128, for which the unit that multiplies is not needed; the tactic
// corrects for that with the sums of the weights' columns.
#include <immintrin.h>

#include "backends/cpu/kernels/int8_copy.h"
#include "backends/cpu/kernels/int8_tile.h"

namespace tenfold::backends::cpu {
namespace {

// What each tile of a panel fetches: a line in each step, or always the same one.
struct Ahead {
  const char* at;
  std::int64_t step, bytes;
  Ahead(Int8Ahead ahead) : at(ahead.at), step(ahead.bytes > 0 ? 64 : 0), bytes(ahead.bytes) {}
  void advance(std::int64_t steps) {
    at += steps * step;
    bytes -= steps * step;
    if (bytes <= 0) step = 0;
  }
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

template <bool Signed>
struct Quads {
  static constexpr int lanes = 16, rows = 12, last_rows = 13;

  // One step of k: value(r) is where row r has it.
  template <int Rows, int Vectors, class Value>
  __attribute__((always_inline)) static inline void step(__m512i (&acc)[Rows][Vectors], const char* b, __m512i flip, Value value) {
    __m512i panel[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) panel[v] = _mm512_loadu_si512(b + v * lanes * 4);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      __m512i x = _mm512_set1_epi32(*reinterpret_cast<const std::int32_t*>(value(r)));
      if constexpr (Signed) x = _mm512_xor_si512(x, flip);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], x, panel[v]);
    }
  }

  template <int Rows, int Vectors>
  __attribute__((always_inline)) static inline void steps(__m512i (&acc)[Rows][Vectors], Strided a, const char* b,
                                                          std::int64_t k_groups) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
    const char *at = a.first, *soon = a.ahead.at;
    for (std::int64_t k = 0; k < k_groups; ++k, at += 4, b += Vectors * lanes * 4, soon += a.ahead.step) {
      _mm_prefetch(soon, _MM_HINT_T1);
      step<Rows, Vectors>(acc, b, flip, [&](int r) { return at + r * a.stride; });
    }
  }

  template <int Rows, int Vectors>
  __attribute__((always_inline)) static inline void steps(__m512i (&acc)[Rows][Vectors], Tapped a, const char* b, std::int64_t k_groups) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
    const char* soon = a.ahead.at;
    for (const Int8WindowTap *tap = a.taps, *end = tap + a.count; tap < end; ++tap) {
      const char* const* from = tap->rows + a.row;
      for (std::int64_t k = tap->offset, last = k + 4 * k_groups; k < last; k += 4, b += Vectors * lanes * 4, soon += a.ahead.step) {
        _mm_prefetch(soon, _MM_HINT_T1);
        step<Rows, Vectors>(acc, b, flip, [&](int r) { return from[r] + k; });
      }
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

void panel(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
           const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead) {
  const Strided strided{{a, a_stride}, ahead};
  if (is_signed)
    int8_panel<Quads<true>>(rows, width, strided, b, k_groups, order, init, c, c_stride);
  else
    int8_panel<Quads<false>>(rows, width, strided, b, k_groups, order, init, c, c_stride);
}

void taps(std::int64_t rows, int width, const Int8WindowTap* taps, std::int64_t count, const char* b, std::int64_t k_groups,
          const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool is_signed, Int8Ahead ahead) {
  const Tapped tapped{taps, count, 0, ahead};
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
