// Fused attention: blocks of keys, for each one products, an online softmax and products again, in registers and first-level cache.
//
// Keys are transposed into panels as they are met, so both products are one micro-kernel: rows of A broadcast times panels of B.
// Scores are kept in units of log 2, so that the exponential is 2^x.
#include "backends/cpu/kernels/attention/attention.h"

#include "backends/cpu/kernels/attention/online_softmax.h"
#include "backends/cpu/simd/bytes.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/transpose.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

constexpr int kMr = kLanes == 8 ? 6 : 12, kNr = 2 * kLanes;  // the micro-kernel's tile
constexpr int64_t kRows = 144;                               // of a call: their accumulators stay in scratch
constexpr int64_t kGroup = 24;                               // rows whose scores are kept at once; a multiple of kMr
constexpr int64_t kNarrow = kLanes / 2;                      // the widest values whose products are sums over lanes of keys

constexpr int64_t padded(int64_t n) { return (n + kNr - 1) / kNr * kNr; }

// c[kR x kNr] = a[kR x depth] * b[depth x kNr] + what lies at `more`, in rows of more_row
template <int kR>
void tile(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row, int64_t depth, const float* more,
          int64_t more_row) {
  vf lo[kR], hi[kR];
#pragma GCC unroll 12
  for (int r = 0; r < kR; ++r) lo[r] = hi[r] = zero();
  for (int64_t i = 0; i < depth; ++i) {
    const vf b0 = load(b + i * b_row), b1 = load(b + i * b_row + kLanes);
#pragma GCC unroll 12
    for (int r = 0; r < kR; ++r) {
      const vf x = set1(a[r * a_row + i]);
      lo[r] = fma(x, b0, lo[r]);
      hi[r] = fma(x, b1, hi[r]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kR; ++r) {
    store(c + r * c_row, add(load(more + r * more_row), lo[r]));
    store(c + r * c_row + kLanes, add(load(more + r * more_row + kLanes), hi[r]));
  }
}
using Tile = void (*)(const float*, int64_t, const float*, int64_t, float*, int64_t, int64_t, const float*, int64_t);
constexpr Tile kTiles[] = {nullptr, tile<1>, tile<2>, tile<3>,  tile<4>,  tile<5>, tile<6>,
                           tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

// A[rows x depth] times one panel, tile by tile.
TENFOLD_INLINE void panel(int64_t rows, const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                          int64_t depth, const float* more, int64_t more_row) {
  for (; rows > 0; rows -= kMr, a += kMr * a_row, c += kMr * c_row, more += kMr * more_row)
    if (rows >= kMr)
      tile<kMr>(a, a_row, b, b_row, c, c_row, depth, more, more_row);
    else
      kTiles[rows](a, a_row, b, b_row, c, c_row, depth, more, more_row);
}

// Panels of kNr keys: to[panel][i][key], times the scale. Keys beyond the end are zero.
void pack_keys(const float* k, int64_t k_row, int64_t keys, int64_t size, float scale, float* to) {
  const vf by = set1(scale);
  for (int64_t first = 0; first < keys; first += kNr, to += size * kNr) {
    const int64_t here = keys - first < kNr ? keys - first : kNr;
    for (int64_t j = 0; j < kNr; j += 8) {
      const float* from = k + (first + j) * k_row;
      int64_t i = 0;
      if (j + 8 <= here)
        for (; i + 8 <= size; i += 8) transpose_8x8(from + i, k_row, to + i * kNr + j, kNr);
      for (; i < size; ++i)
        for (int64_t x = 0; x < 8; ++x) to[i * kNr + j + x] = j + x < here ? from[x * k_row + i] : 0.f;
    }
    for (int64_t i = 0; i < size * kNr; i += kLanes) store(to + i, mul(load(to + i), by));
  }
}
// Panels of kNr columns, one behind the other: rows that are far apart would share few sets of the first cache.
void pack_values(const float* v, int64_t v_row, int64_t keys, int64_t size, float* to) {
  for (int64_t i = 0; i < size; i += kNr, to += keys * kNr)
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t part = 0; part < kNr; part += kLanes) {
        const int64_t left = size - i - part;
        const float* from = v + j * v_row + i + part;
        store(to + j * kNr + part, left >= kLanes ? load(from) : left > 0 ? load_n(from, left) : zero());
      }
}

// Few columns, one behind the other: to[column][key]. A panel of them would be mostly padding, so lanes are keys instead.
void pack_columns(const float* v, int64_t v_row, int64_t keys, int64_t size, float* to) {
  for (int64_t c = 0; c < size; ++c, to += kKeys)
    for (int64_t j = 0; j < (keys + kLanes - 1) / kLanes * kLanes; ++j) to[j] = j < keys ? v[j * v_row + c] : 0.f;
}

// sums[kR x kC] += scores[kR x keys] * the columns
template <int kR, int kC>
TENFOLD_INLINE void add_products(const float* scores, const float* columns, int64_t keys, float* sums, int64_t width) {
  vf all[kR][kC];
#pragma GCC unroll 4
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kC; ++c) all[r][c] = zero();
  for (int64_t j = 0; j < keys; j += kLanes) {
    vf column[kC];
#pragma GCC unroll 4
    for (int c = 0; c < kC; ++c) column[c] = load(columns + c * kKeys + j);
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
      const vf score = load(scores + r * kKeys + j);
#pragma GCC unroll 4
      for (int c = 0; c < kC; ++c) all[r][c] = fma(score, column[c], all[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kC; ++c) sums[r * width + c] += sum(all[r][c]);
}
// A row's sums do not depend on the rows beside it.
template <int kC>
void add_products(int64_t rows, const float* scores, const float* columns, int64_t keys, float* sums, int64_t width) {
  constexpr int kTogether = kLanes == 8 ? 2 : 4;
  int64_t r = 0;
  for (; r + kTogether <= rows; r += kTogether)
    add_products<kTogether, kC>(scores + r * kKeys, columns, keys, sums + r * width, width);
  for (; r < rows; ++r) add_products<1, kC>(scores + r * kKeys, columns, keys, sums + r * width, width);
}
void add_products(int64_t rows, const float* scores, const float* columns, int64_t size, int64_t keys, float* sums, int64_t width) {
  for (; size >= 4; size -= 4, columns += 4 * kKeys, sums += 4) add_products<4>(rows, scores, columns, keys, sums, width);
  for (; size > 0; --size, columns += kKeys, ++sums) add_products<1>(rows, scores, columns, keys, sums, width);
}

// Rows of a block of keys or values as floats. Those of int8 are made in `to`.
struct Rows {
  const float* first;
  int64_t row;
};
Rows rows_of(const void* from, int64_t row, const float* scale, int64_t key, int64_t keys, int64_t size, float* to) {
  if (!scale) return {static_cast<const float*>(from) + key * row, row};
  for (int64_t j = 0; j < keys; ++j) {
    const auto* const bytes = static_cast<const std::int8_t*>(from) + (key + j) * row;
    const vf by = set1(scale[key + j]);
    for (int64_t i = 0; i < size; i += kLanes) {
      const int64_t left = size - i;
      if (left >= kLanes)
        store(to + j * size + i, mul(load_any(bytes + i), by));
      else
        store_n(to + j * size + i, mul(load_any(bytes + i, left), by), left);
    }
  }
  return {to, size};
}

struct Scratch {
  float *keys, *values, *mask, *scores, *sums, *top, *total, *wide;  // wide: a block of int8 keys or values as floats
  int64_t width;  // of a row of sums
};
int64_t rounded(int64_t floats) { return (floats + 15) / 16 * 16; }
int64_t scratch_floats(int64_t size, int64_t value_size) {
  const int64_t wide = size > value_size ? size : value_size;
  return kKeys * (rounded(size) + padded(value_size) + 1 + kGroup + wide) + kRows * padded(value_size) + 2 * kRows;
}
Scratch lay_out(const AttentionHead& a, float* p) {
  Scratch s;
  s.width = padded(a.value_size);
  s.keys = p;
  s.values = s.keys + kKeys * rounded(a.size);
  s.mask = s.values + kKeys * s.width;
  s.scores = s.mask + kKeys;
  s.sums = s.scores + kGroup * kKeys;
  s.top = s.sums + kRows * s.width;
  s.total = s.top + kRows;
  s.wide = s.total + kRows;
  return s;
}

// The first of rows [row, end) that is not left out because it sees no key from `key` on. Whole tiles are left out, wherever workers' parts
// begin: else these would decide which rows meet values that are not finite, times zero.
int64_t hidden_until(const AttentionHead& a, int64_t row, int64_t end, int64_t key) {
  const int64_t hidden = key - a.causal_shift - a.first_row - row;
  return hidden >= end - row ? end : hidden < kMr ? row : row + hidden / kMr * kMr;
}

void head(const AttentionHead& a, void* scratch) {
  const Scratch s = lay_out(a, static_cast<float*>(scratch));
  const auto* q = static_cast<const float*>(a.q);
  const auto* mask = static_cast<const float*>(a.mask);
  const bool narrow = a.value_size <= kNarrow;
  const float *shared_mask = a.mask_row == 0 ? mask : nullptr, *own_mask = shared_mask ? nullptr : mask;
  for (int64_t r = 0; r < a.rows; ++r) s.top[r] = kLowest, s.total[r] = 0;
  __builtin_memset(s.sums, 0, static_cast<unsigned long>(a.rows * s.width) * 4);
  for (int64_t key = 0; key < a.keys; key += kKeys) {
    const int64_t keys = a.keys - key < kKeys ? a.keys - key : kKeys, wide = padded(keys);
    if (key > 0 && a.first_row + a.rows - 1 + a.causal_shift < key) break;  // no row of this call sees this block or a later one
    const Rows k = rows_of(a.k, a.k_row, a.k_scale, key, keys, a.size, s.wide);
    pack_keys(k.first, k.row, keys, a.size, a.scale * kLog2e, s.keys);
    const Rows v = rows_of(a.v, a.v_row, a.v_scale, key, keys, a.value_size, s.wide);
    (narrow ? pack_columns : pack_values)(v.first, v.row, keys, a.value_size, s.values);
    share_mask(a, shared_mask ? shared_mask + key * a.mask_col : nullptr, keys, s.mask);
    for (int64_t group = 0; group < a.rows; group += kGroup) {
      const int64_t end = a.rows - group < kGroup ? a.rows : group + kGroup, row = hidden_until(a, group, end, key), rows = end - row;
      for (int64_t j = 0; j < wide; j += kNr)
        panel(rows, q + row * a.q_row, a.q_row, s.keys + j * a.size, kNr, s.scores + j, kKeys, a.size, s.mask + j, 0);
      const auto seen = [&](int64_t r) {
        const int64_t visible = a.first_row + row + r + a.causal_shift + 1 - key;
        return visible < 0 ? 0 : visible < keys ? visible : keys;
      };
      float highest[kGroup];  // of all rows first: none waits for its own
      for (int64_t r = 0; r < rows; ++r) {
        const float* own = own_mask ? own_mask + (row + r) * a.mask_row + key * a.mask_col : nullptr;
        highest[r] = highest_of(a, s.scores + r * kKeys, own, seen(r));
      }
      for (int64_t r = 0; r < rows; ++r)
        soften(highest[r], s.scores + r * kKeys, keys, seen(r), s.top + row + r, s.total + row + r, s.sums + (row + r) * s.width, s.width,
               key == 0);
      if (narrow) add_products(rows, s.scores, s.values, a.value_size, keys, s.sums + row * s.width, s.width);
      for (int64_t i = narrow ? s.width : 0; i < s.width; i += kNr) {
        float* const sums = s.sums + row * s.width + i;
        panel(rows, s.scores, kKeys, s.values + i * keys, kNr, sums, s.width, keys, sums, s.width);
      }
    }
  }
  for (int64_t r = 0; r < a.rows; ++r) {
    const vf inverse = set1(s.total[r] == 0 ? a.hidden_row : 1.f / s.total[r]);
    const float* from = s.sums + r * s.width;
    float* to = static_cast<float*>(a.out) + r * a.out_row;
    int64_t i = 0;
    for (; i + kLanes <= a.value_size; i += kLanes) store(to + i, mul(load(from + i), inverse));
    if (i < a.value_size) store_n(to + i, mul(load(from + i), inverse), a.value_size - i);
  }
}

int64_t scratch_bytes(int64_t size, int64_t value_size) { return scratch_floats(size, value_size) * 4; }

}  // namespace

extern "C" constinit const AttentionKernels TENFOLD_TABLE(attention) = {kRows, scratch_bytes, head};

}  // namespace tenfold::backends::cpu
