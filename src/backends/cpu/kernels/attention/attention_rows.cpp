// Fused attention of few query rows, as a decoder's step has them: keys and values are read once where they lie, and nothing is packed.
// T, of queries and results, is float, or the bits of bf16; K, of keys and values, the same, or int8 with a scale for each row. Sums are
// f32.
#include "backends/cpu/kernels/attention/online_softmax.h"
#include "backends/cpu/simd/bytes.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTogether = kLanes == 8 ? 2 : 4;   // rows whose sums are in registers
constexpr int kChunk = 4;                        // vectors of a value's row
constexpr int64_t kRows = 16;                    // of a call

template <class K>
constexpr bool kScaled = sizeof(K) == 1;

constexpr int64_t padded(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

// to[r][j] = q[r] * k[j] * scale[j] + mask[j] for four keys; places behind the last key get the last one's again.
template <int kR, bool kWhole, class K>
TENFOLD_INLINE void four_scores(const float* q, int64_t q_row, const K* const (&k)[4], int64_t size, const float* scale, const float* mask,
                                float* to) {
  vf sums[kR][4];
#pragma GCC unroll 4
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sums[r][j] = zero();
  for (int64_t i = 0; i < size; i += kLanes) {
    const bool whole = kWhole || size - i >= kLanes;
    vf keys[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) keys[j] = whole ? load_any(k[j] + i) : load_any(k[j] + i, size - i);
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
      const vf x = load(q + r * q_row + i);
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) sums[r][j] = fma(x, keys[j], sums[r][j]);
    }
  }
  const four more = load4(mask, 4);
#pragma GCC unroll 4
  for (int r = 0; r < kR; ++r) {
    four products = sum4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
    if constexpr (kScaled<K>) products = mul4(products, load4(scale, 4));
    store4(to + r * kKeys, add4(more, products), 4);
  }
}

// What is read some way ahead, over strides: hardware stops at the end of a page, of which a block of int8 has two.
constexpr int64_t kAhead = 4096;  // bytes
template <class K>
int64_t rows_ahead(int64_t row) {
  const int64_t bytes = row * static_cast<int64_t>(sizeof(K));
  return bytes > 0 && bytes < kAhead ? kAhead / bytes * row : row;
}
template <class K>
TENFOLD_INLINE void fetch(const K* row, int64_t size) {
  for (int64_t i = 0; i < size * static_cast<int64_t>(sizeof(K)); i += 64)
    _mm_prefetch(reinterpret_cast<const char*>(row) + i, _MM_HINT_T0);
}

template <int kR, bool kWhole, class K>
void scores(const float* q, int64_t q_row, const K* k, int64_t k_row, int64_t keys, int64_t size, const float* scale, const float* mask,
            float* to) {
  const int64_t ahead = rows_ahead<K>(k_row);
  for (int64_t j = 0; j < keys; j += 4) {
    const K* rows[4];
    for (int64_t i = 0; i < 4; ++i) fetch(k + (j + i) * k_row + ahead, size);
    for (int64_t i = 0; i < 4; ++i) rows[i] = k + (j + i < keys ? j + i : keys - 1) * k_row;
    four_scores<kR, kWhole>(q, q_row, rows, size, scale + j, mask + j, to + j);
  }
}

// sums[r] += weights[r] * v over keys, for kChunk vectors of a row, of which `left` floats are there; kWhole: all.
template <int kR, bool kWhole, class K>
void add_values(const float* weights, const K* v, int64_t v_row, int64_t keys, int64_t left, float* sums, int64_t width) {
  const int64_t vectors = left >= kChunk * kLanes ? kChunk : (left + kLanes - 1) / kLanes;
  vf all[kR][kChunk];
#pragma GCC unroll 4
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kChunk; ++c) all[r][c] = c < vectors ? load(sums + r * width + c * kLanes) : zero();
  const int64_t ahead = rows_ahead<K>(v_row), fetched = left < kChunk * kLanes ? left : kChunk * kLanes;
  for (int64_t j = 0; j < keys; ++j, v += v_row) {
    fetch(v + ahead, fetched);
    vf values[kChunk];
#pragma GCC unroll 4
    for (int c = 0; c < kChunk; ++c) {
      const int64_t here = left - c * kLanes;
      values[c] = kWhole || here >= kLanes ? load_any(v + c * kLanes) : here > 0 ? load_any(v + c * kLanes, here) : zero();
    }
#pragma GCC unroll 4
    for (int r = 0; r < kR; ++r) {
      const vf weight = set1(weights[r * kKeys + j]);
#pragma GCC unroll 4
      for (int c = 0; c < kChunk; ++c) all[r][c] = fma(weight, values[c], all[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kR; ++r)
#pragma GCC unroll 4
    for (int c = 0; c < kChunk; ++c)
      if (c < vectors) store(sums + r * width + c * kLanes, all[r][c]);
}

struct Scratch {
  float *q, *mask, *scale, *scores, *sums, *top, *total;  // scale: of a block's keys or values
  int64_t q_row, width;   // of a row of q, of sums
};
Scratch lay_out(const AttentionHead& a, float* p) {
  Scratch s{.q_row = padded(a.size), .width = padded(a.value_size)};
  s.q = p, s.mask = s.q + kRows * s.q_row, s.scale = s.mask + kKeys, s.scores = s.scale + kKeys, s.sums = s.scores + kRows * kKeys;
  s.top = s.sums + kRows * s.width, s.total = s.top + kRows;
  return s;
}
int64_t scratch_bytes(int64_t size, int64_t value_size) {
  return (kRows * (padded(size) + padded(value_size) + kKeys + 2) + 2 * kKeys) * static_cast<int64_t>(sizeof(float));
}

// Queries in units of log 2, with zeros behind the last element.
template <class T>
void take_queries(const AttentionHead& a, const Scratch& s) {
  const vf by = set1(a.scale * kLog2e);
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t i = 0; i < a.size; i += kLanes) {
      const T* from = static_cast<const T*>(a.q) + r * a.q_row + i;
      store(s.q + r * s.q_row + i, mul(a.size - i >= kLanes ? load_any(from) : load_any(from, a.size - i), by));
    }
}

template <int kR, class K>
void score_rows(const AttentionHead& a, const Scratch& s, int64_t row, int64_t key, int64_t keys) {
  const K* k = static_cast<const K*>(a.k) + key * a.k_row;
  (a.size % kLanes == 0 ? scores<kR, true, K> : scores<kR, false, K>)(s.q + row * s.q_row, s.q_row, k, a.k_row, keys, a.size, s.scale,
                                                                      s.mask, s.scores + row * kKeys);
}
template <int kR, class K>
void weigh_rows(const AttentionHead& a, const Scratch& s, int64_t row, int64_t key, int64_t keys) {
  const K* v = static_cast<const K*>(a.v) + key * a.v_row;
  for (int64_t i = 0; i < a.value_size; i += kChunk * kLanes)
    (a.value_size - i >= kChunk * kLanes ? add_values<kR, true, K> : add_values<kR, false, K>)(s.scores + row * kKeys, v + i, a.v_row, keys,
                                                                                               a.value_size - i, s.sums + row * s.width + i,
                                                                                               s.width);
}
// A row's results do not depend on the rows beside it.
template <class Group, class One>
TENFOLD_INLINE void by_groups(int64_t rows, Group group, One one) {
  int64_t row = 0;
  for (; row + kTogether <= rows; row += kTogether) group(row);
  for (; row < rows; ++row) one(row);
}

// A row's mask from `key` on, as floats: where it lies, or in `to`. Null where there is none.
const float* mask_block(const AttentionHead& a, int64_t row, int64_t key, int64_t keys, float* to) {
  if (!a.mask) return nullptr;
  const int64_t at = row * a.mask_row + key * a.mask_col, count = a.mask_col ? keys : 1;
  if (!a.narrow_mask) return static_cast<const float*>(a.mask) + at;
  const auto* from = static_cast<const std::uint16_t*>(a.mask) + at;
  for (int64_t i = 0; i < count; i += kLanes) store(to + i, load_any(from + i, count - i < kLanes ? count - i : kLanes));
  return to;
}

void soften_rows(const AttentionHead& a, const Scratch& s, int64_t key, int64_t keys) {
  float block[kKeys];
  for (int64_t r = 0; r < a.rows; ++r) {
    const int64_t visible = a.first_row + r + a.causal_shift + 1 - key, seen = visible < 0 ? 0 : visible < keys ? visible : keys;
    const float* own = a.mask_row != 0 ? mask_block(a, r, key, keys, block) : nullptr;
    const float highest = highest_of(a, s.scores + r * kKeys, own, seen);
    soften(highest, s.scores + r * kKeys, keys, seen, s.top + r, s.total + r, s.sums + r * s.width, s.width, key == 0);
  }
}

// A block's scales, with zeros behind the last: four scores are made at once.
void take_scales(const float* from, int64_t keys, float* to) {
  for (int64_t j = 0; j < kKeys; j += kLanes) {
    const int64_t left = keys - j;
    store(to + j, left <= 0 ? zero() : left < kLanes ? load_n(from + j, left) : load(from + j));
  }
}
// Weights in units of the values' integers.
void scale_weights(const AttentionHead& a, const Scratch& s, int64_t keys) {
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t j = 0; j < keys; j += kLanes) {
      float* const weight = s.scores + r * kKeys + j;
      store(weight, mul(load(weight), load(s.scale + j)));
    }
}

template <class T, class K>
void attend(const AttentionHead& a, void* scratch) {
  const Scratch s = lay_out(a, static_cast<float*>(scratch));
  float block[kKeys];
  take_queries<T>(a, s);
  for (int64_t r = 0; r < a.rows; ++r) s.top[r] = kLowest, s.total[r] = 0;
  __builtin_memset(s.sums, 0, static_cast<unsigned long>(a.rows * s.width) * sizeof(float));
  for (int64_t key = 0; key < a.keys; key += kKeys) {
    if (key > 0 && a.first_row + a.rows - 1 + a.causal_shift < key) break;   // no row of this call sees this block or a later one
    const int64_t keys = a.keys - key < kKeys ? a.keys - key : kKeys;
    share_mask(a, a.mask_row == 0 ? mask_block(a, 0, key, keys, block) : nullptr, keys, s.mask);
    if constexpr (kScaled<K>) take_scales(a.k_scale + key, keys, s.scale);
    by_groups(
        a.rows, [&](int64_t row) { score_rows<kTogether, K>(a, s, row, key, keys); },
        [&](int64_t row) { score_rows<1, K>(a, s, row, key, keys); });
    soften_rows(a, s, key, keys);
    if constexpr (kScaled<K>) take_scales(a.v_scale + key, keys, s.scale), scale_weights(a, s, keys);
    by_groups(
        a.rows, [&](int64_t row) { weigh_rows<kTogether, K>(a, s, row, key, keys); },
        [&](int64_t row) { weigh_rows<1, K>(a, s, row, key, keys); });
  }
  for (int64_t r = 0; r < a.rows; ++r) {
    const vf inverse = set1(s.total[r] == 0 ? a.hidden_row : 1.f / s.total[r]);
    const float* from = s.sums + r * s.width;
    T* to = static_cast<T*>(a.out) + r * a.out_row;
    for (int64_t i = 0; i < a.value_size; i += kLanes) {
      const vf value = mul(load(from + i), inverse);
      if (a.value_size - i >= kLanes)
        store_any(to + i, value);
      else
        store_any(to + i, value, a.value_size - i);
    }
  }
}

void head(const AttentionHead& a, void* scratch) {
  using Bf16 = std::uint16_t;
  (a.k_scale ? attend<float, std::int8_t> : a.narrow ? attend<Bf16, Bf16> : attend<float, float>)(a, scratch);
}

}  // namespace

extern "C" constinit const AttentionKernels TENFOLD_TABLE(attention_rows) = {kRows, scratch_bytes, head};

}  // namespace tenfold::backends::cpu
