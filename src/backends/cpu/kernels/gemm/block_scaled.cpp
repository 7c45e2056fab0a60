// Products of few rows with weights of 4 and 8 bits, which become floats in registers, and panels of such weights as floats.
#include <utility>

#include "backends/cpu/kernels/gemm/block_scaled_weights.h"
#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

// One row: sums of a block's integers, in several chains, are scaled as a whole.
template <int kBits, BlockScaledValues kValues>
struct OneRow {
  static constexpr int kChains = kLanes == 16 ? 4 : 2;
  vf total[1][kParts], part[kChains][kParts];
  Centers<kBits, kValues> centers;
  const float* x;

  inline __attribute__((always_inline)) OneRow(const BlockScaledPanel& p, const GemmF32Tile& t) : centers(p), x(t.rows[0]) {
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) total[0][v] = zero();
  }
  template <int... i>
  inline __attribute__((always_inline)) void word(const std::uint32_t* words, std::integer_sequence<int, i...>) {
    fetch(words);
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) {
      const vi w = words_at(words, v);
      ((part[i % kChains][v] = fma(centers.template weight<i>(w, v), set1(x[i]), part[i % kChains][v])), ...);
    }
    x += sizeof...(i);
  }
  inline __attribute__((always_inline)) void begin(const BlockScaledPanel& p, std::int64_t block) {
    centers.read(p, block);
#pragma GCC unroll 8
    for (int i = 0; i < kChains * kParts; ++i) part[i / kParts][i % kParts] = zero();
  }
  inline __attribute__((always_inline)) void end(const BlockScaledPanel& p, std::int64_t block) {
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) {
      vf sum = add(part[0][v], part[1][v]);
      if constexpr (kChains == 4) sum = add(sum, add(part[2][v], part[3][v]));
      total[0][v] = fma(sum, scale_of(p, block, v), total[0][v]);
    }
  }
};

// Several rows share weights that are scaled at once.
template <int kBits, BlockScaledValues kValues, int kRows>
struct SeveralRows {
  vf total[kRows][kParts], scale[kParts];
  Centers<kBits, kValues> centers;
  const float* const* rows;
  std::int64_t k = 0;

  inline __attribute__((always_inline)) SeveralRows(const BlockScaledPanel& p, const GemmF32Tile& t) : centers(p), rows(t.rows) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows * kParts; ++i) total[i / kParts][i % kParts] = zero();
  }
  template <int i>
  inline __attribute__((always_inline)) void add_products(vi w, int v) {
    const vf weight = mul(centers.template weight<i>(w, v), scale[v]);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) total[r][v] = fma(weight, set1(rows[r][k + i]), total[r][v]);
  }
  template <int... i>
  inline __attribute__((always_inline)) void word(const std::uint32_t* words, std::integer_sequence<int, i...>) {
    fetch(words);
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) {
      const vi w = words_at(words, v);
      (add_products<i>(w, v), ...);
    }
    k += sizeof...(i);
  }
  inline __attribute__((always_inline)) void begin(const BlockScaledPanel& p, std::int64_t block) {
    centers.read(p, block);
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) scale[v] = scale_of(p, block, v);
  }
  inline __attribute__((always_inline)) void end(const BlockScaledPanel&, std::int64_t) {}
};

// Fewer values than a word has.
template <class Sums, int... i>
TENFOLD_INLINE void last_word(Sums& sums, const std::uint32_t* words, std::int64_t count, std::integer_sequence<int, i...>) {
  ((i + 1 == count ? sums.word(words, std::make_integer_sequence<int, i + 1>()) : void()), ...);
}

template <int kBits, BlockScaledValues kValues, int kRows>
void product(const BlockScaledPanel& p, const GemmF32Tile& t) {
  std::conditional_t<kRows == 1, OneRow<kBits, kValues>, SeveralRows<kBits, kValues, kRows>> sums(p, t);
  const std::uint32_t* words = p.words;
  std::int64_t block = 0;
  for (std::int64_t begin = 0; begin < p.k; begin += p.block, ++block) {
    const std::int64_t count = p.block < p.k - begin ? p.block : p.k - begin;
    sums.begin(p, block);
    for (std::int64_t i = count / kWord<kBits>; i > 0; --i, words += kBlockScaledPanel)
      sums.word(words, std::make_integer_sequence<int, kWord<kBits>>());
    if (const std::int64_t rest = count % kWord<kBits>; rest > 0) {
      last_word(sums, words, rest, std::make_integer_sequence<int, kWord<kBits> - 1>());
      words += kBlockScaledPanel;
    }
    sums.end(p, block);
  }
  store_sums(sums.total, t);
}

template <int kBits, BlockScaledValues kValues, int... i>
TENFOLD_INLINE void unpack_word(const Centers<kBits, kValues>& centers, const std::uint32_t* words, const vf (&scale)[kParts],
                                std::int64_t count, float* to, std::int64_t stride, std::integer_sequence<int, i...>) {
#pragma GCC unroll 2
  for (int v = 0; v < kParts; ++v) {
    const vi w = words_at(words, v);
    ((i < count ? store(to + i * stride + v * kLanes, mul(centers.template weight<i>(w, v), scale[v])) : void()), ...);
  }
}

template <int kBits, BlockScaledValues kValues>
void unpack(const BlockScaledPanel& p, std::int64_t first, std::int64_t last, float* to, std::int64_t stride) {
  Centers<kBits, kValues> centers(p);
  constexpr auto kIndices = std::make_integer_sequence<int, kWord<kBits>>();
  for (std::int64_t k = first, end; k < last; k = end) {
    const std::int64_t block = k / p.block;
    end = (block + 1) * p.block < last ? (block + 1) * p.block : last;
    centers.read(p, block);
    vf scale[kParts];
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) scale[v] = scale_of(p, block, v);
    for (std::int64_t i = k; i < end; i += kWord<kBits>, to += kWord<kBits> * stride) {
      const std::uint32_t* words = p.words + i / kWord<kBits> * kBlockScaledPanel;
      fetch(words);
      if (end - i >= kWord<kBits>)
        unpack_word(centers, words, scale, kWord<kBits>, to, stride, kIndices);
      else
        unpack_word(centers, words, scale, end - i, to, stride, kIndices);
    }
  }
}

constexpr int kMaxFewRows = kLanes == 16 ? 8 : 4;   // as registers allow

}  // namespace

#define OF_ROWS(bits, values, rows) product<bits, values, (rows <= kMaxFewRows ? rows : 1)>
#define ALL_ROWS(bits, values)                                                                                                        \
  {                                                                                                                                   \
    OF_ROWS(bits, values, 1), OF_ROWS(bits, values, 2), OF_ROWS(bits, values, 3), OF_ROWS(bits, values, 4), OF_ROWS(bits, values, 5), \
        OF_ROWS(bits, values, 6), OF_ROWS(bits, values, 7), OF_ROWS(bits, values, 8)                                                  \
  }
extern "C" const BlockScaledKernels TENFOLD_TABLE(block_scaled) = {
    kMaxFewRows,
    {{ALL_ROWS(4, kOneZero), ALL_ROWS(4, kZeroOfBlock), ALL_ROWS(4, kE2m1)}, {ALL_ROWS(8, kOneZero), ALL_ROWS(8, kZeroOfBlock)}},
    {{unpack<4, kOneZero>, unpack<4, kZeroOfBlock>, unpack<4, kE2m1>}, {unpack<8, kOneZero>, unpack<8, kZeroOfBlock>}}};
#undef ALL_ROWS
#undef OF_ROWS

}  // namespace tenfold::backends::cpu
