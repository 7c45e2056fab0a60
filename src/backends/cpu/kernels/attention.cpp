// Fused attention: blocks of keys, for each one products, an online softmax and products again, in registers and first-level cache.
//
// Keys are transposed into panels as they are met, so both products are one micro-kernel: rows of A broadcast times panels of B.
// Scores are kept in units of log 2, so that the exponential is 2^x.
#include "backends/cpu/kernels/attention.h"

#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/transpose.h"

namespace tenfold::backends::cpu {
namespace {

using namespace simd;
using std::int64_t;

constexpr int kMr = kLanes == 8 ? 6 : 12, kNr = 2 * kLanes;  // the micro-kernel's tile
constexpr int64_t kKeys = 128;                               // of a block
constexpr int64_t kRows = 96;                                // of a call: their accumulators stay in scratch
constexpr int64_t kGroup = 24;                               // rows whose scores are kept at once; a multiple of kMr
constexpr float kLog2e = 1.44269504f, kLowest = -__builtin_inff(), kLowestMask = -2.3e38f;  // the latter times log2(e) is finite

constexpr int64_t padded(int64_t n) { return (n + kNr - 1) / kNr * kNr; }

// c[kR x kNr] (+)= a[kR x depth] * b[depth x kNr]
template <int kR>
void tile(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row, int64_t depth, bool accumulate) {
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
    float* p = c + r * c_row;
    store(p, accumulate ? add(load(p), lo[r]) : lo[r]);
    store(p + kLanes, accumulate ? add(load(p + kLanes), hi[r]) : hi[r]);
  }
}
using Tile = void (*)(const float*, int64_t, const float*, int64_t, float*, int64_t, int64_t, bool);
constexpr Tile kTiles[] = {nullptr, tile<1>, tile<2>, tile<3>,  tile<4>,  tile<5>, tile<6>,
                           tile<7>, tile<8>, tile<9>, tile<10>, tile<11>, tile<12>};

// A[rows x depth] times one panel, tile by tile.
TENFOLD_INLINE void panel(int64_t rows, const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                          int64_t depth, bool accumulate) {
  int64_t r = 0;
  for (; r + kMr <= rows; r += kMr) tile<kMr>(a + r * a_row, a_row, b, b_row, c + r * c_row, c_row, depth, accumulate);
  if (r < rows) kTiles[rows - r](a + r * a_row, a_row, b, b_row, c + r * c_row, c_row, depth, accumulate);
}

// Panels of kNr keys: to[panel][i][key]. Keys beyond the end are zero.
void pack_keys(const float* k, int64_t k_row, int64_t keys, int64_t size, float* to) {
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
  }
}
void pack_values(const float* v, int64_t v_row, int64_t keys, int64_t size, float* to) {
  const int64_t width = padded(size);
  for (int64_t j = 0; j < keys; ++j)
    for (int64_t i = 0; i < width; ++i) to[j * width + i] = i < size ? v[j * v_row + i] : 0.f;
}

struct Scratch {
  float *keys, *values, *query, *scores, *sums, *top, *total;
  int64_t width;  // of a row of sums
};
int64_t rounded(int64_t floats) { return (floats + 15) / 16 * 16; }
int64_t scratch_floats(int64_t size, int64_t value_size) {
  const int64_t values = value_size % kNr ? kKeys * padded(value_size) : 0;
  return rounded(kKeys * size) + rounded(values) + rounded(kRows * size) + kGroup * kKeys + kRows * padded(value_size) + 2 * kRows;
}
Scratch lay_out(const AttentionHead& a, float* p) {
  Scratch s;
  s.width = padded(a.value_size);
  s.keys = p;
  s.values = s.keys + rounded(kKeys * a.size);
  s.query = s.values + rounded(a.value_size % kNr ? kKeys * s.width : 0);
  s.scores = s.query + rounded(kRows * a.size);
  s.sums = s.scores + kGroup * kKeys;
  s.top = s.sums + kRows * s.width;
  s.total = s.top + kRows;
  return s;
}

// In units of log 2 too, without becoming infinite there: a row that is masked whole by the lowest float is an even mean of all values, one
// that is masked by infinity gives zeros.
TENFOLD_INLINE vf finite(vf mask) {
  return blend(max(set1(kLowestMask), mask), mask, compare<_CMP_EQ_OQ>(mask, set1(kLowest)));
}

// One row of scores: adds the mask, raises the running maximum, leaves exponentials and their sum. Keys beyond `seen` weigh 0.
TENFOLD_INLINE void soften(const AttentionHead& a, float* score, const float* mask, int64_t keys, int64_t seen, float* top, float* total,
                           float* sums, int64_t width, bool first) {
  vf m = set1(kLowest);
  int64_t j = 0;
  if (mask && seen > 0) {
    if (a.mask_col) {
      for (; j + kLanes <= seen; j += kLanes) {
        const vf s = fma(finite(load(mask + j)), set1(kLog2e), load(score + j));
        store(score + j, s);
        m = max(s, m);
      }
      if (j < seen) {
        const vf s = fma(finite(load_n(mask + j, seen - j)), set1(kLog2e), load(score + j));
        store(score + j, s);
        m = max(blend(m, s, lanes(seen - j)), m);
      }
    } else {
      const vf shift = mul(finite(set1(*mask)), set1(kLog2e));
      for (; j < seen; j += kLanes) {
        const vf s = add(load(score + j), shift);
        store(score + j, s);
        m = max(seen - j >= kLanes ? s : blend(m, s, lanes(seen - j)), m);
      }
    }
  } else {
    for (; j + kLanes <= seen; j += kLanes) m = max(load(score + j), m);
    if (j < seen) m = max(blend(m, load(score + j), lanes(seen - j)), m);
  }
  const float before = *top, highest = max_lane(m), now = highest > before ? highest : before;
  if (now == kLowest) {  // every key so far is hidden
    for (j = 0; j < keys; j += kLanes) store(score + j, zero());
    return;
  }
  const vf shift = set1(now);
  vf sum_now = zero();
  for (j = 0; j + kLanes <= seen; j += kLanes) {
    const vf e = exp2_nonpositive(sub(load(score + j), shift));
    store(score + j, e);
    sum_now = add(sum_now, e);
  }
  if (j < seen) {
    const vf e = blend(zero(), exp2_nonpositive(sub(load(score + j), shift)), lanes(seen - j));
    store(score + j, e);
    sum_now = add(sum_now, e);
    j += kLanes;
  }
  for (; j < keys; j += kLanes) store(score + j, zero());
  const float here = sum(sum_now);
  if (first || now == before) {
    *total += here;
  } else {  // earlier sums were in units of the old maximum
    float factor[kLanes];
    store(factor, before == kLowest ? zero() : exp2_nonpositive(set1(before - now)));
    *total = *total * factor[0] + here;
    for (int64_t i = 0; i < width; i += kLanes) store(sums + i, mul(load(sums + i), set1(factor[0])));
  }
  *top = now;
}

void head(const AttentionHead& a, void* scratch) {
  const Scratch s = lay_out(a, static_cast<float*>(scratch));
  const float scale = a.scale * kLog2e;
  const auto *q = static_cast<const float*>(a.q), *k = static_cast<const float*>(a.k), *v = static_cast<const float*>(a.v);
  const auto* mask_begin = static_cast<const float*>(a.mask);
  for (int64_t r = 0; r < a.rows; ++r) {
    s.top[r] = kLowest;
    s.total[r] = 0;
    for (int64_t i = 0; i < a.size; ++i) s.query[r * a.size + i] = q[r * a.q_row + i] * scale;
  }
  if (a.keys == 0) __builtin_memset(s.sums, 0, static_cast<unsigned long>(a.rows * s.width) * 4);
  for (int64_t key = 0; key < a.keys; key += kKeys) {
    const int64_t keys = a.keys - key < kKeys ? a.keys - key : kKeys, wide = padded(keys);
    if (key > 0 && a.first_row + a.rows - 1 + a.causal_shift < key) break;  // no row of this call sees this block or a later one
    pack_keys(k + key * a.k_row, a.k_row, keys, a.size, s.keys);
    const float* values = v + key * a.v_row;
    int64_t value_row = a.v_row;
    if (a.value_size % kNr) {
      pack_values(values, a.v_row, keys, a.value_size, s.values);
      values = s.values;
      value_row = s.width;
    }
    for (int64_t row = 0; row < a.rows; row += kGroup) {
      const int64_t rows = a.rows - row < kGroup ? a.rows - row : kGroup;
      for (int64_t j = 0; j < wide; j += kNr)
        panel(rows, s.query + row * a.size, a.size, s.keys + j * a.size, kNr, s.scores + j, kKeys, a.size, false);
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t visible = a.first_row + row + r + a.causal_shift + 1 - key;
        const int64_t seen = visible < 0 ? 0 : visible < keys ? visible : keys;
        const float* mask = mask_begin ? mask_begin + (row + r) * a.mask_row + key * a.mask_col : nullptr;
        soften(a, s.scores + r * kKeys, mask, keys, seen, s.top + row + r, s.total + row + r, s.sums + (row + r) * s.width, s.width,
               key == 0);
      }
      for (int64_t i = 0; i < s.width; i += kNr)
        panel(rows, s.scores, kKeys, values + i, value_row, s.sums + row * s.width + i, s.width, keys, key > 0);
    }
  }
  for (int64_t r = 0; r < a.rows; ++r) {
    const vf inverse = set1(s.total[r] == 0 ? 0.f : 1.f / s.total[r]);  // a row that sees no key gives zeros
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
