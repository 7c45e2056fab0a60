// Products of few rows with weights of 4 and 8 bits, which become floats in registers, and panels of such weights as floats.
#include "backends/cpu/kernels/gemm/block_scaled.h"

#include <utility>

#include "backends/cpu/kernels/gemm/tile_f32.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kParts = kBlockScaledPanel / kLanes;   // vectors of a panel
constexpr int kMagic = 0x4b000000;                   // 2^23, whose lowest bits take an integer in

template <int kBits>
constexpr int kWord = 32 / kBits;
template <int kBits>
constexpr int bit_of(int i) {
  return kBits == 8 || i < 4 ? 8 * i : 8 * (i - 4) + 4;
}

TENFOLD_INLINE vi shifted(vi words, int bits) {
#if defined(__AVX512F__)
  return bits ? _mm512_srli_epi32(words, static_cast<unsigned>(bits)) : words;
#else
  return bits ? _mm256_srli_epi32(words, bits) : words;
#endif
}
TENFOLD_INLINE vf with_magic(vi words, int mask) {   // 2^23 + the lowest bits
#if defined(__AVX512F__)
  return as_float(_mm512_ternarylogic_epi32(words, set1i(mask), set1i(kMagic), 0xea));   // a & b | c
#else
  return bits_or(as_float(andi(words, set1i(mask))), as_float(set1i(kMagic)));
#endif
}

// What weights are less: a zero point, beside 2^23; without zero points a table has all 16 values of 4 bits instead where it fits a register.
template <int kBits, bool kZeros>
struct Centers {
  static constexpr bool kTable = kBits == 4 && !kZeros && kLanes == 16;
  vf value[kParts];

  TENFOLD_INLINE vf first(const BlockScaledPanel& p) {
    if constexpr (!kTable) return set1(8388608.f + p.zero);
    alignas(64) float numbers[16];
    for (int i = 0; i < 16; ++i) numbers[i] = static_cast<float>(i) - p.zero;
    return load(numbers);
  }
  inline __attribute__((always_inline)) explicit Centers(const BlockScaledPanel& p) {
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) value[v] = first(p);
  }
  inline __attribute__((always_inline)) void read(const BlockScaledPanel& p, std::int64_t block) {
    if constexpr (kZeros) {
      std::uint8_t bytes[16];
      const std::uint8_t* from = p.zeros + block * 2 * kBits;
      if constexpr (kBits == 4) {
        const __m128i both = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), low = _mm_set1_epi8(15);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes),
                         _mm_unpacklo_epi64(_mm_and_si128(both, low), _mm_and_si128(_mm_srli_epi16(both, 4), low)));
        from = bytes;
      }
#pragma GCC unroll 2
      for (int v = 0; v < kParts; ++v) value[v] = add(to_float(widen_u8(from + v * kLanes)), set1(8388608.f));
    }
  }
  template <int i>
  inline __attribute__((always_inline)) vf weight(vi words, int v) const {
    const vi moved = shifted(words, bit_of<kBits>(i));
#if defined(__AVX512F__)
    if constexpr (kTable) return _mm512_permutexvar_ps(moved, value[v]);
#endif
    return sub(with_magic(moved, (1 << kBits) - 1), value[v]);
  }
};

TENFOLD_INLINE vi words_at(const std::uint32_t* words, int v) { return loadi(reinterpret_cast<const std::int32_t*>(words) + v * kLanes); }
TENFOLD_INLINE void fetch(const std::uint32_t* words) {
  _mm_prefetch(reinterpret_cast<const char*>(words) + 3072, _MM_HINT_T0);   // hardware stops at the end of a page
}

// One row: sums of a block's integers, in several chains, are scaled as a whole.
template <int kBits, bool kZeros>
struct OneRow {
  static constexpr int kChains = kLanes == 16 ? 4 : 2;
  vf total[1][kParts], part[kChains][kParts];
  Centers<kBits, kZeros> centers;
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
      total[0][v] = fma(sum, load(p.scales + block * kBlockScaledPanel + v * kLanes), total[0][v]);
    }
  }
};

// Several rows share weights that are scaled at once.
template <int kBits, bool kZeros, int kRows>
struct SeveralRows {
  vf total[kRows][kParts], scale[kParts];
  Centers<kBits, kZeros> centers;
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
    for (int v = 0; v < kParts; ++v) scale[v] = load(p.scales + block * kBlockScaledPanel + v * kLanes);
  }
  inline __attribute__((always_inline)) void end(const BlockScaledPanel&, std::int64_t) {}
};

// Fewer values than a word has.
template <class Sums, int... i>
TENFOLD_INLINE void last_word(Sums& sums, const std::uint32_t* words, std::int64_t count, std::integer_sequence<int, i...>) {
  ((i + 1 == count ? sums.word(words, std::make_integer_sequence<int, i + 1>()) : void()), ...);
}

template <int kBits, bool kZeros, int kRows>
void product(const BlockScaledPanel& p, const GemmF32Tile& t) {
  std::conditional_t<kRows == 1, OneRow<kBits, kZeros>, SeveralRows<kBits, kZeros, kRows>> sums(p, t);
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

template <int kBits, bool kZeros, int... i>
TENFOLD_INLINE void unpack_word(const Centers<kBits, kZeros>& centers, const std::uint32_t* words, const float* scales, std::int64_t count,
                                float* to, std::int64_t stride, std::integer_sequence<int, i...>) {
#pragma GCC unroll 2
  for (int v = 0; v < kParts; ++v) {
    const vi w = words_at(words, v);
    const vf scale = load(scales + v * kLanes);
    ((i < count ? store(to + i * stride + v * kLanes, mul(centers.template weight<i>(w, v), scale)) : void()), ...);
  }
}

template <int kBits, bool kZeros>
void unpack(const BlockScaledPanel& p, std::int64_t first, std::int64_t last, float* to, std::int64_t stride) {
  Centers<kBits, kZeros> centers(p);
  constexpr auto kValues = std::make_integer_sequence<int, kWord<kBits>>();
  for (std::int64_t k = first, end; k < last; k = end) {
    const std::int64_t block = k / p.block;
    end = (block + 1) * p.block < last ? (block + 1) * p.block : last;
    centers.read(p, block);
    const float* scales = p.scales + block * kBlockScaledPanel;
    for (std::int64_t i = k; i < end; i += kWord<kBits>, to += kWord<kBits> * stride) {
      const std::uint32_t* words = p.words + i / kWord<kBits> * kBlockScaledPanel;
      fetch(words);
      if (end - i >= kWord<kBits>)
        unpack_word(centers, words, scales, kWord<kBits>, to, stride, kValues);
      else
        unpack_word(centers, words, scales, end - i, to, stride, kValues);
    }
  }
}

constexpr int kMaxFewRows = kLanes == 16 ? 8 : 4;   // as registers allow

}  // namespace

#define OF_ROWS(bits, zeros, rows) product<bits, zeros, (rows <= kMaxFewRows ? rows : 1)>
#define ALL_ROWS(bits, zeros)                                                                                                    \
  {OF_ROWS(bits, zeros, 1), OF_ROWS(bits, zeros, 2), OF_ROWS(bits, zeros, 3), OF_ROWS(bits, zeros, 4),                           \
   OF_ROWS(bits, zeros, 5), OF_ROWS(bits, zeros, 6), OF_ROWS(bits, zeros, 7), OF_ROWS(bits, zeros, 8)}
extern "C" const BlockScaledKernels TENFOLD_TABLE(block_scaled) = {
    kMaxFewRows,
    {{ALL_ROWS(4, false), ALL_ROWS(4, true)}, {ALL_ROWS(8, false), ALL_ROWS(8, true)}},
    {{unpack<4, false>, unpack<4, true>}, {unpack<8, false>, unpack<8, true>}}};
#undef ALL_ROWS
#undef OF_ROWS

}  // namespace tenfold::backends::cpu
