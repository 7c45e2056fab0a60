// Weights of 4 and 8 bits as tiles of bf16: rounded, or as the sum of two terms.
#include <utility>

#include "backends/cpu/kernels/gemm/block_scaled_weights.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kStep = 32, kTerm = 1024, kPair = 32;   // rows of K; values from a term to the next, from a pair of rows to the next
constexpr float kOrdinary = 1e35f;   // scales below it make no infinity

struct Interleave {
  alignas(64) std::uint16_t value[32];
};
constexpr Interleave kInterleave = [] {   // of two vectors behind each other
  Interleave order{};
  for (std::uint16_t i = 0; i < 32; ++i) order.value[i] = static_cast<std::uint16_t>(i % 2 * 16 + i / 2);
  return order;
}();

TENFOLD_INLINE __m512i rounded(vf even, vf odd) {
  const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even));
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleave.value), both);
}
TENFOLD_INLINE vf upper(vf v) { return bits_and(v, as_float(set1i(static_cast<int>(0xffff0000u)))); }

// A first term of the upper bits never overflows. What is not finite is all in the second one, of which no product is taken twice.
template <bool kAny, int kTerms>
TENFOLD_INLINE void store_pair(vf even, vf odd, std::uint16_t* to) {
  if constexpr (kTerms == 1) {
    _mm512_storeu_si512(to, rounded(even, odd));
    return;
  }
  vf even_high = upper(even), odd_high = upper(odd);
  if constexpr (kAny) {
    constexpr int kNoNumber = 0x99;   // NaN, infinities
    even_high = _mm512_maskz_mov_ps(_knot_mask16(_mm512_fpclass_ps_mask(even, kNoNumber)), even_high);
    odd_high = _mm512_maskz_mov_ps(_knot_mask16(_mm512_fpclass_ps_mask(odd, kNoNumber)), odd_high);
  }
  _mm512_storeu_si512(to, _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(as_int(even_high), 16), as_int(odd_high)));
  _mm512_storeu_si512(to + kTerm, rounded(sub(even, even_high), sub(odd, odd_high)));
}

template <bool kAny, int kTerms, int kBits, BlockScaledValues kValues, int... pair>
TENFOLD_INLINE void unpack_word(const Centers<kBits, kValues>& centers, const std::uint32_t* words, vf scale, std::int64_t count,
                                std::uint16_t* to, std::integer_sequence<int, pair...>) {
  const vi w = words_at(words, 0);
  const auto value = [&]<int i>(std::integral_constant<int, i>) __attribute__((always_inline)) {
    return kAny && i >= count ? zero() : mul(centers.template weight<i>(w, 0), scale);
  };
  (store_pair<kAny, kTerms>(value(std::integral_constant<int, 2 * pair>()), value(std::integral_constant<int, 2 * pair + 1>()),
                            to + pair * kPair), ...);
}

template <int kBits, BlockScaledValues kValues, int kTerms>
void unpack(const BlockScaledPanel& p, std::int64_t steps, std::uint16_t* to) {
  constexpr auto kPairs = std::make_integer_sequence<int, kWord<kBits> / 2>();
  Centers<kBits, kValues> centers(p);
  vf scale = zero();
  bool ordinary = true;
  std::int64_t end = 0;   // of the block
  for (std::int64_t k = 0; k < steps * kStep; k += kWord<kBits>) {
    if (k >= end && k < p.k) {
      const std::int64_t block = k / p.block;
      centers.read(p, block);
      scale = scale_of(p, block, 0);
      ordinary = compare<_CMP_LT_OQ>(abs(scale), set1(kOrdinary)) == 0xffff;
      end = (block + 1) * p.block;
    }
    const std::uint32_t* words = p.words + k / kWord<kBits> * kBlockScaledPanel;
    std::uint16_t* const at = to + k / kStep * kTerms * kTerm + k % kStep / 2 * kPair;
    const std::int64_t count = p.k - k;
    if (count >= kWord<kBits> && ordinary) {
      fetch(words);
      unpack_word<false, kTerms>(centers, words, scale, count, at, kPairs);
    } else {   // what lies behind the last word is not read
      unpack_word<true, kTerms>(centers, count > 0 ? words : p.words, scale, count, at, kPairs);
    }
  }
}

}  // namespace

#define TERMS(bits, values) \
  { unpack<bits, values, 1>, unpack<bits, values, 2> }
extern "C" const BlockScaledBf16Kernels TENFOLD_TABLE(block_scaled_bf16) = {
    {{TERMS(4, kOneZero), TERMS(4, kZeroOfBlock), TERMS(4, kE2m1)}, {TERMS(8, kOneZero), TERMS(8, kZeroOfBlock)}}};
#undef TERMS

}  // namespace tenfold::backends::cpu
