// Fused attention with AMX: blocks of keys, products of bf16 on tiles, an online softmax of f32 between them in first-level cache.
//
// Scores of 32 query rows are computed at once, weighed, rounded to bf16 in their place, and multiplied with the values. Keys are packed
// as pairs along the head, values as pairs of rows, as tiles want them. Exponents are in units of log 2. Heads of f32 that may not be
// rounded come in two parts, side by side, as in kernels/gemm_bf16.h.
#include "backends/cpu/kernels/attention.h"

#include <immintrin.h>

#include "backends/cpu/kernels/amx/split.h"
#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;
using std::uint16_t;

constexpr int64_t kKeys = 256;   // of a block
constexpr int64_t kRows = 256;   // of a call
constexpr int64_t kGroup = 32;   // rows whose scores are kept at once: two tiles
constexpr float kLog2e = 1.44269504f, kLowest = -__builtin_inff();

int64_t up_to(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Panels of B have 32 columns: [steps of 32 along the sum][part][two tiles of columns][16 pairs][16 columns][2]. Rows of A:
// [steps][part][32 values].
constexpr int64_t kStep = 1024, kTile = 512;   // of one part

struct Scratch {
  uint16_t *query, *keys, *values;
  float *scores, *sums, *bias, *lanes, *top, *total;
  int64_t depth, width;  // of a head and of its values, in whole tiles
  int64_t score_row;     // floats; odd in cache lines, so that rows spread over the cache
};
// Places all in `memory`, unless that is null; gives the bytes.
int64_t lay_out(int64_t size, int64_t value_size, int64_t parts, char* memory, Scratch& s) {
  s.depth = up_to(size, 32), s.width = up_to(value_size, 32), s.score_row = kKeys + 16;
  int64_t at = 0;
  const auto take = [&](auto*& place, int64_t count) {
    if (memory) place = reinterpret_cast<decltype(+place)>(memory + at);
    at += up_to(count * static_cast<int64_t>(sizeof *place), 64);
  };
  take(s.scores, kGroup * s.score_row);
  take(s.bias, kKeys);
  take(s.lanes, kGroup * 16);
  take(s.top, kRows);
  take(s.total, kRows);
  take(s.query, kRows * s.depth * parts);
  take(s.keys, kKeys * s.depth * parts);
  take(s.values, kKeys * s.width * parts);
  take(s.sums, kRows * s.width);
  return at;
}
template <int kParts>
int64_t scratch_bytes(int64_t size, int64_t value_size) {
  Scratch s{};
  return lay_out(size, value_size, kParts, nullptr, s);
}

inline __mmask16 lanes(int64_t n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1); }

// Elements [at, at + 32) of a row that ends at `end`, as bf16; zeros behind the end.
template <bool kNarrow>
inline __m512i row_part(const void* row, int64_t at, int64_t end) {
  const int64_t left = end - at;
  if constexpr (kNarrow) {
    const auto* from = static_cast<const uint16_t*>(row) + at;
    if (left >= 32) return _mm512_loadu_si512(from);
    return _mm512_maskz_loadu_epi16(static_cast<__mmask32>((std::uint64_t{1} << left) - 1), from);
  } else {
    const auto* from = static_cast<const float*>(row) + at;
    const __m512 low = _mm512_maskz_loadu_ps(lanes(left), from), high = _mm512_maskz_loadu_ps(lanes(left - 16), from + 16);
    return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
  }
}
// Part `part` of two.
inline __m512i row_part_of(const void* row, int64_t at, int64_t end, int part) {
  const auto* from = static_cast<const float*>(row) + at;
  const int64_t left = end - at;
  __m512i both[2];
  round_in_two(_mm512_maskz_loadu_ps(lanes(left), from), _mm512_maskz_loadu_ps(lanes(left - 16), from + 16), both);
  return part == 0 ? both[0] : both[1];
}
template <bool kNarrow, int kParts>
inline __m512i row_part(const void* row, int64_t at, int64_t end, int part) {
  if constexpr (kParts == 2) return row_part_of(row, at, end, part);
  return row_part<kNarrow>(row, at, end);
}
template <bool kNarrow>
inline const void* row_of(const void* first, int64_t row, int64_t stride) {
  return static_cast<const char*>(first) + row * stride * (kNarrow ? 2 : 4);
}

// 16 rows of 16 pairs become 16 pairs of 16 rows.
inline void transpose(__m512i (&v)[16]) {
  __m512i w[16];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    w[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
    w[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {  // v[4i + j]: pairs j, j + 4, ... of rows 4i to 4i + 3
    v[4 * i] = _mm512_unpacklo_epi64(w[4 * i], w[4 * i + 2]);
    v[4 * i + 1] = _mm512_unpackhi_epi64(w[4 * i], w[4 * i + 2]);
    v[4 * i + 2] = _mm512_unpacklo_epi64(w[4 * i + 1], w[4 * i + 3]);
    v[4 * i + 3] = _mm512_unpackhi_epi64(w[4 * i + 1], w[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    w[j] = _mm512_shuffle_i32x4(v[j], v[4 + j], 0x88), w[4 + j] = _mm512_shuffle_i32x4(v[j], v[4 + j], 0xdd);
    w[8 + j] = _mm512_shuffle_i32x4(v[8 + j], v[12 + j], 0x88), w[12 + j] = _mm512_shuffle_i32x4(v[8 + j], v[12 + j], 0xdd);
  }
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    v[j] = _mm512_shuffle_i32x4(w[j], w[8 + j], 0x88), v[8 + j] = _mm512_shuffle_i32x4(w[j], w[8 + j], 0xdd);
    v[4 + j] = _mm512_shuffle_i32x4(w[4 + j], w[12 + j], 0x88), v[12 + j] = _mm512_shuffle_i32x4(w[4 + j], w[12 + j], 0xdd);
  }
}

template <bool kNarrow, int kParts>
void pack_keys(const void* k, int64_t k_row, int64_t keys, int64_t size, int64_t depth, uint16_t* to) {
  for (int64_t key = 0; key < keys; key += 32, to += 32 * depth * kParts)
    for (int64_t tile = 0; tile < 2; ++tile)
      for (int64_t step = 0; step < depth / 32 * kParts; ++step) {
        __m512i v[16];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
          const int64_t row = key + tile * 16 + i;
          v[i] = row < keys ? row_part<kNarrow, kParts>(row_of<kNarrow>(k, row, k_row), step / kParts * 32, size, step % kParts)
                          : _mm512_setzero_si512();
        }
        transpose(v);
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) _mm512_store_si512(to + step * kStep + tile * kTile + i * 32, v[i]);
      }
}

template <bool kNarrow, int kParts>
void pack_values(const void* v, int64_t v_row, int64_t keys, int64_t size, int64_t steps, uint16_t* to) {
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  for (int64_t column = 0; column < size; column += 32, to += steps * kStep * kParts)
    for (int64_t i = 0; i < steps * 16 * kParts; ++i) {
      const int64_t key = i / kParts * 2;
      const int part = static_cast<int>(i % kParts);
      const __m512i none = _mm512_setzero_si512();
      const __m512i a = key < keys ? row_part<kNarrow, kParts>(row_of<kNarrow>(v, key, v_row), column, size, part) : none;
      const __m512i b = key + 1 < keys ? row_part<kNarrow, kParts>(row_of<kNarrow>(v, key + 1, v_row), column, size, part) : none;
      const __m512i x = _mm512_unpacklo_epi16(a, b), y = _mm512_unpackhi_epi16(a, b);
      uint16_t* const pair = to + (key / 32 * kParts + part) * kStep + key % 32 * 16;
      _mm512_store_si512(pair, _mm512_permutex2var_epi64(x, low, y));
      _mm512_store_si512(pair + kTile, _mm512_permutex2var_epi64(x, high, y));
    }
}

template <bool kNarrow, int kParts>
void copy_queries(const AttentionHead& a, const Scratch& s) {
  const int64_t steps = s.depth / 32 * kParts;
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t i = 0; i < steps; ++i)
      _mm512_store_si512(s.query + (r * steps + i) * 32, row_part<kNarrow, kParts>(row_of<kNarrow>(a.q, r, a.q_row), i / kParts * 32,
                                                                                  a.size, static_cast<int>(i % kParts)));
}

// c[16 or 32 rows x 32] (+)= a * panel. Tile registers are literal numbers: 0-3 sums [row tile][column tile], 4-5 rows of a, 6-7 columns.
template <bool kTwoRows>
inline void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kTwoRows) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}
template <bool kTwoRows>
inline void add_products_of(const char* rows, int64_t a_bytes) {
  _tile_loadd(4, rows, a_bytes);
  if constexpr (kTwoRows) _tile_loadd(5, rows + 16 * a_bytes, a_bytes);
  add_products<kTwoRows>();
}
template <bool kTwoRows, bool kAdd, int kParts>
inline void multiply(const void* a, int64_t a_bytes, const uint16_t* panel, int64_t steps, float* c, int64_t c_row) {
  const int64_t c_bytes = c_row * 4;
  if constexpr (kAdd) {
    _tile_loadd(0, c, c_bytes);
    _tile_loadd(1, c + 16, c_bytes);
    if constexpr (kTwoRows) _tile_loadd(2, c + 16 * c_row, c_bytes);
    if constexpr (kTwoRows) _tile_loadd(3, c + 16 * c_row + 16, c_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kTwoRows) _tile_zero(2);
    if constexpr (kTwoRows) _tile_zero(3);
  }
  const char* rows = static_cast<const char*>(a);
  for (int64_t i = 0; i < steps; ++i, rows += 64 * kParts, panel += kStep * kParts) {
    _tile_loadd(6, panel, 64);
    _tile_loadd(7, panel + kTile, 64);
    if constexpr (kParts == 2) add_products_of<kTwoRows>(rows + 64, a_bytes);
    add_products_of<kTwoRows>(rows, a_bytes);
    if constexpr (kParts == 2) {
      _tile_loadd(6, panel + kStep, 64);
      _tile_loadd(7, panel + kStep + kTile, 64);
      add_products<kTwoRows>();
    }
  }
  _tile_stored(0, c, c_bytes);
  _tile_stored(1, c + 16, c_bytes);
  if constexpr (kTwoRows) {
    _tile_stored(2, c + 16 * c_row, c_bytes);
    _tile_stored(3, c + 16 * c_row + 16, c_bytes);
  }
}
template <bool kAdd, int kParts>
void multiply_panels(int64_t rows, const void* a, int64_t a_bytes, const uint16_t* panels, int64_t panel_step, int64_t steps,
                     int64_t columns, float* c, int64_t c_row) {
  for (int64_t column = 0; column < columns; column += 32, panels += panel_step * kParts)
    rows > 16 ? multiply<true, kAdd, kParts>(a, a_bytes, panels, steps, c + column, c_row)
              : multiply<false, kAdd, kParts>(a, a_bytes, panels, steps, c + column, c_row);
}

// Lane r of the result joins all lanes of row r of v[16][16].
template <class Join>
inline __m512 across(const float* v, Join join) {
  __m512 a[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const __m512 x = _mm512_load_ps(v + i * 16), y = _mm512_load_ps(v + (i + 8) * 16);
    a[i] = join(_mm512_shuffle_f32x4(x, y, 0x44), _mm512_shuffle_f32x4(x, y, 0xee));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) a[i] = join(_mm512_shuffle_f32x4(a[i], a[i + 4], 0x88), _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd));
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) a[i] = join(_mm512_unpacklo_ps(a[i], a[i + 2]), _mm512_unpackhi_ps(a[i], a[i + 2]));
  const __m512 last = join(_mm512_shuffle_ps(a[0], a[1], 0x44), _mm512_shuffle_ps(a[0], a[1], 0xee));
  return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15), last);
}

// 2^x to 8e-5, a fraction of what bf16 rounds by; of two parts, to 1e-7. 2^-inf is 0.
template <int kParts>
inline __m512 exp2(__m512 x) {
  if constexpr (kParts == 2) {
    constexpr float c[] = {1.000000072f, 0.6931469712f, 0.2402211997f, 0.05550708143f, 0.009675527457f, 0.001327786946f};
    const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m512 p = _mm512_set1_ps(c[5]);
#pragma GCC unroll 5
    for (int i = 4; i >= 0; --i) p = _mm512_fmadd_ps(r, p, _mm512_set1_ps(c[i]));
    return _mm512_scalef_ps(p, _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  const __m512 r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);  // x - floor(x)
  __m512 p = _mm512_fmadd_ps(r, _mm512_set1_ps(0.0780245212f), _mm512_set1_ps(0.2260671575f));
  p = _mm512_fmadd_ps(r, p, _mm512_set1_ps(0.6958335398f));
  p = _mm512_fmadd_ps(r, p, _mm512_set1_ps(0.9999252186f));
  return _mm512_scalef_ps(p, x);
}

// The mask of one row over keys [key, key + keys) in units of log 2, and zeros up to a multiple of 32. Whether it is not zero everywhere.
bool load_bias(const AttentionHead& a, int64_t row, int64_t key, int64_t keys, float* to) {
  const int64_t at = row * a.mask_row + key * a.mask_col;
  const auto* wide = static_cast<const float*>(a.mask) + (a.narrow_mask ? 0 : at);
  const auto* narrow = static_cast<const uint16_t*>(a.mask) + (a.narrow_mask ? at : 0);
  const auto widened = [](__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); };
  __m512i any = _mm512_setzero_si512();
  for (int64_t j = 0; j < up_to(keys, 32); j += 16) {
    const __mmask16 here = lanes(keys - j);
    __m512 x;
    if (a.mask_col == 0)
      x = a.narrow_mask ? widened(_mm256_set1_epi16(static_cast<short>(*narrow))) : _mm512_set1_ps(*wide);
    else
      x = a.narrow_mask ? widened(_mm256_maskz_loadu_epi16(here, narrow + j)) : _mm512_maskz_loadu_ps(here, wide + j);
    x = _mm512_maskz_mul_ps(here, x, _mm512_set1_ps(kLog2e));
    any = _mm512_or_si512(any, _mm512_castps_si512(x));
    _mm512_store_ps(to + j, x);
  }
  return _mm512_test_epi32_mask(any, any) != 0;
}

// Rows [row, row + rows) of a call, and what of a block of keys they see.
struct Group {
  int64_t row, rows, key, keys;
  bool masked;
  int64_t seen(const AttentionHead& a, int64_t r) const {  // keys that row r of the group sees
    const int64_t visible = a.first_row + row + r + a.causal_shift + 1 - key;
    return visible < 0 ? 0 : visible < keys ? visible : keys;
  }
};

// Largest score of each row into `lanes`, masks added, keys out of sight at minus infinity.
void look(const AttentionHead& a, const Scratch& s, const Group& g, int64_t wide) {
  const __m512 lowest = _mm512_set1_ps(kLowest), scale = _mm512_set1_ps(a.scale * kLog2e);
  for (int64_t r = 0; r < g.rows; ++r) {
    float* const score = s.scores + r * s.score_row;
    const int64_t seen = g.seen(a, r);
    for (int64_t j = seen; j < wide; j = (j / 16 + 1) * 16)
      _mm512_mask_storeu_ps(score + j / 16 * 16, static_cast<__mmask16>(0xffffu << j % 16), lowest);
    __m512 m0 = lowest, m1 = lowest;
    if (!g.masked) {
      for (int64_t j = 0; j < wide; j += 32) {
        m0 = _mm512_max_ps(_mm512_load_ps(score + j), m0);  // NaN is left out here and comes back with the sum
        m1 = _mm512_max_ps(_mm512_load_ps(score + j + 16), m1);
      }
      _mm512_store_ps(s.lanes + r * 16, _mm512_mul_ps(_mm512_max_ps(m0, m1), scale));
      continue;
    }
    if (a.mask_row) load_bias(a, g.row + r, g.key, g.keys, s.bias);
    for (int64_t j = 0; j < wide; j += 16) {
      const __m512 x = _mm512_fmadd_ps(_mm512_load_ps(score + j), scale, _mm512_load_ps(s.bias + j));
      _mm512_store_ps(score + j, x);
      m0 = _mm512_max_ps(x, m0);
    }
    _mm512_store_ps(s.lanes + r * 16, m0);
  }
}

// Scores become weights in bf16, in their place (two parts fill it); what was summed before is scaled where a row's maximum rises.
template <int kParts>
void weigh(const AttentionHead& a, const Scratch& s, const Group& g, int64_t wide, float* sums, bool first) {
  look(a, s, g, wide);
  const __m512 lowest = _mm512_set1_ps(kLowest), scale = _mm512_set1_ps(g.masked ? 1.f : a.scale * kLog2e);
  alignas(64) float shift[kGroup], factor[kGroup];
  for (int64_t r = 0; r < g.rows; r += 16) {
    const __m512 here = across(s.lanes + r * 16, [](__m512 x, __m512 y) __attribute__((always_inline)) { return _mm512_max_ps(x, y); });
    const __m512 before = first ? lowest : _mm512_load_ps(s.top + g.row + r);
    const __m512 now = _mm512_max_ps(here, before);
    const __mmask16 seen = _mm512_cmp_ps_mask(now, lowest, _CMP_NEQ_UQ);
    _mm512_store_ps(s.top + g.row + r, now);
    _mm512_store_ps(shift + r, _mm512_maskz_mov_ps(seen, now));
    _mm512_store_ps(factor + r, exp2<kParts>(_mm512_sub_ps(before, _mm512_maskz_mov_ps(seen, now))));
  }
  for (int64_t r = 0; r < g.rows; ++r) {
    const float* const score = s.scores + r * s.score_row;
    auto* const weight = reinterpret_cast<uint16_t*>(s.scores + r * s.score_row);
    const __m512 down = _mm512_set1_ps(-shift[r]);
    __m512 s0 = _mm512_setzero_ps(), s1 = s0;
    for (int64_t j = 0; j < wide; j += 32) {
      const __m512 p0 = exp2<kParts>(_mm512_fmadd_ps(_mm512_load_ps(score + j), scale, down));
      const __m512 p1 = exp2<kParts>(_mm512_fmadd_ps(_mm512_load_ps(score + j + 16), scale, down));
      s0 = _mm512_add_ps(s0, p0);
      s1 = _mm512_add_ps(s1, p1);
      if constexpr (kParts == 2) {
        __m512i parts[2];
        round_in_two(p0, p1, parts);
        _mm512_store_si512(weight + 2 * j, parts[0]);
        _mm512_store_si512(weight + 2 * j + 32, parts[1]);
      } else {
        _mm512_store_si512(weight + j, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(p1, p0)));
      }
    }
    _mm512_store_ps(s.lanes + r * 16, _mm512_add_ps(s0, s1));
    if (first || factor[r] == 1.f) continue;
    const __m512 by = _mm512_set1_ps(factor[r]);
    for (int64_t i = 0; i < s.width; i += 16)
      _mm512_store_ps(sums + r * s.width + i, _mm512_mul_ps(_mm512_load_ps(sums + r * s.width + i), by));
  }
  for (int64_t r = 0; r < g.rows; r += 16) {
    const __m512 here = across(s.lanes + r * 16, [](__m512 x, __m512 y) __attribute__((always_inline)) { return _mm512_add_ps(x, y); });
    const __m512 before = first ? _mm512_setzero_ps() : _mm512_load_ps(s.total + g.row + r);
    _mm512_store_ps(s.total + g.row + r, _mm512_fmadd_ps(before, _mm512_load_ps(factor + r), here));
  }
}

template <bool kNarrow>
void finish(const AttentionHead& a, const Scratch& s, const Group& g, const float* sums) {
  for (int64_t r = 0; r < g.rows; ++r) {
    const float total = s.total[g.row + r];
    const __m512 inverse = _mm512_set1_ps(total == 0 ? 0.f : 1.f / total);  // a row that sees no key gives zeros
    const int64_t first = (g.row + r) * a.out_row, size = a.value_size;
    int64_t i = 0;
    const auto next = [&] { return _mm512_mul_ps(_mm512_load_ps(sums + r * s.width + i), inverse); };
    if constexpr (kNarrow) {
      auto* const to = static_cast<uint16_t*>(a.out) + first;
      for (; i + 16 <= size; i += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(next())));
      if (i < size) _mm256_mask_storeu_epi16(to + i, lanes(size - i), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(next())));
    } else {
      auto* const to = static_cast<float*>(a.out) + first;
      for (; i + 16 <= size; i += 16) _mm512_storeu_ps(to + i, next());
      if (i < size) _mm512_mask_storeu_ps(to + i, lanes(size - i), next());
    }
  }
}

template <bool kNarrow, int kParts>
void attend(const AttentionHead& a, const Scratch& s) {
  copy_queries<kNarrow, kParts>(a, s);
  const bool once = a.keys <= kKeys;
  for (int64_t key = 0; key < a.keys; key += kKeys) {
    const int64_t keys = a.keys - key < kKeys ? a.keys - key : kKeys, steps = up_to(keys, 32) / 32;
    if (key > 0 && a.first_row + a.rows - 1 + a.causal_shift < key) break;  // no row of this call sees this block or a later one
    pack_keys<kNarrow, kParts>(row_of<kNarrow>(a.k, key, a.k_row), a.k_row, keys, a.size, s.depth, s.keys);
    pack_values<kNarrow, kParts>(row_of<kNarrow>(a.v, key, a.v_row), a.v_row, keys, a.value_size, steps, s.values);
    const bool masked = a.mask && (a.mask_row || load_bias(a, 0, key, keys, s.bias));  // rows of zeros hide nothing
    for (int64_t row = 0; row < a.rows; row += kGroup) {
      const Group g{row, a.rows - row < kGroup ? a.rows - row : kGroup, key, keys, masked};
      const int64_t wide = up_to(g.seen(a, g.rows - 1), 32);  // for the last row sees most
      float* const sums = s.sums + (once ? 0 : row * s.width);
      if (wide == 0 && key > 0) continue;
      multiply_panels<false, kParts>(g.rows, s.query + row * s.depth * kParts, s.depth * 2 * kParts, s.keys, 32 * s.depth, s.depth / 32,
                                     wide, s.scores, s.score_row);
      weigh<kParts>(a, s, g, wide, sums, key == 0);
      if (key == 0)
        multiply_panels<false, kParts>(g.rows, s.scores, s.score_row * 4, s.values, steps * kStep, wide / 32, s.width, sums, s.width);
      else
        multiply_panels<true, kParts>(g.rows, s.scores, s.score_row * 4, s.values, steps * kStep, wide / 32, s.width, sums, s.width);
      const bool last = key + kKeys >= a.keys || a.first_row + row + g.rows - 1 + a.causal_shift < key + kKeys;
      if (last) finish<kNarrow>(a, s, g, sums);
    }
  }
}

template <int kParts>
void head(const AttentionHead& a, void* scratch) {
  Scratch s{};
  lay_out(a.size, a.value_size, kParts, static_cast<char*>(scratch), s);
  if (a.keys == 0) {
    for (int64_t r = 0; r < a.rows; ++r)
      __builtin_memset(static_cast<char*>(a.out) + r * a.out_row * (a.narrow ? 2 : 4), 0,
                       static_cast<unsigned long>(a.value_size * (a.narrow ? 2 : 4)));
    return;
  }
  _tile_loadconfig(&kWholeTiles);
  if constexpr (kParts == 2)
    attend<false, 2>(a, s);
  else
    a.narrow ? attend<true, 1>(a, s) : attend<false, 1>(a, s);
  _tile_release();
}

}  // namespace

extern "C" constinit const AttentionKernels TENFOLD_TABLE(attention) = {kRows, scratch_bytes<1>, head<1>};
extern "C" constinit const AttentionKernels TENFOLD_TABLE(attention_split) = {kRows, scratch_bytes<2>, head<2>};

}  // namespace tenfold::backends::cpu
