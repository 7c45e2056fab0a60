// How kernels read weights of 4 and 8 bits with a scale for each block: as vectors of floats, a value of K of 16 columns.
#pragma once

#include "backends/cpu/kernels/gemm/block_scaled.h"
#include "backends/cpu/simd/f32.h"

namespace tenfold::backends::cpu {
namespace {  // every kernel file gets its own copy

using namespace simd;

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

// Magnitudes of e2m1, the highest bit of which is the sign.
alignas(32) constexpr float kMagnitudesE2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

// What weights are less: a zero point, beside 2^23; without zero points a table has all 16 values of 4 bits instead, where it fits a
// register. Of e2m1 the magnitudes do, at least.
template <int kBits, BlockScaledValues kValues>
struct Centers {
  static constexpr bool kTable = kBits == 4 && kValues != kZeroOfBlock && kLanes == 16;
  vf value[kParts];

  TENFOLD_INLINE vf first(const BlockScaledPanel& p) {
    if constexpr (!kTable && kValues == kE2m1) return load(kMagnitudesE2m1);
    if constexpr (!kTable) return set1(8388608.f + p.zero);
    alignas(64) float numbers[16];
    for (int i = 0; i < 16; ++i)
      numbers[i] = kValues != kE2m1 ? static_cast<float>(i) - p.zero : i < 8 ? kMagnitudesE2m1[i] : -kMagnitudesE2m1[i - 8];
    return load(numbers);
  }
  inline __attribute__((always_inline)) explicit Centers(const BlockScaledPanel& p) {
#pragma GCC unroll 2
    for (int v = 0; v < kParts; ++v) value[v] = first(p);
  }
  inline __attribute__((always_inline)) void read(const BlockScaledPanel& p, std::int64_t block) {
    if constexpr (kValues == kZeroOfBlock) {
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
#else
    if constexpr (kValues == kE2m1) return bits_xor(permute(value[v], moved), bits_and(as_float(shift_left<28>(moved)), sign_bits()));
#endif
    return sub(with_magic(moved, (1 << kBits) - 1), value[v]);
  }
};

// Codes of e4m3; denormal ones are what lies between 2^-6 and the number that they would be with an exponent.
TENFOLD_INLINE vf of_e4m3(vi codes) {
  const vi size = andi(codes, set1i(127));
  const vf number = as_float(addi(shift_left<20>(size), set1i(120 << 23)));
  const vf denormal = sub(as_float(addi(shift_left<20>(size), set1i(121 << 23))), set1(0x1p-6f));
  const vf finite = blend(number, denormal, compare<_CMP_LT_OQ>(number, set1(0x1p-6f)));
  const vf value = blend(finite, set1(__builtin_nanf("")), compare<_CMP_GT_OQ>(finite, set1(448.f)));
  return bits_xor(value, as_float(shift_left<24>(andi(codes, set1i(128)))));
}
TENFOLD_INLINE vf scale_of(const BlockScaledPanel& p, std::int64_t block, int v) {
  if (p.scale_type == kF32Scales) return load(reinterpret_cast<const float*>(p.scales) + block * kBlockScaledPanel + v * kLanes);
  if (p.scale_type != kF24Scales) {
    const vi codes = widen_u8(reinterpret_cast<const std::uint8_t*>(p.scales) + block * kBlockScaledPanel + v * kLanes);
    return p.scale_type == kE8m0Scales ? as_float(shift_left<23>(codes)) : mul(of_e4m3(codes), set1(p.factor));
  }
  const char* const at = p.scales + block * kBlockScaledPanel * 3;
  const vi upper = widen_u16(reinterpret_cast<const std::uint16_t*>(at) + v * kLanes);
  const vi lower = widen_u8(reinterpret_cast<const std::uint8_t*>(at) + 2 * kBlockScaledPanel + v * kLanes);
  return as_float(addi(shift_left<16>(upper), shift_left<8>(lower)));
}
TENFOLD_INLINE vi words_at(const std::uint32_t* words, int v) { return loadi(reinterpret_cast<const std::int32_t*>(words) + v * kLanes); }
TENFOLD_INLINE void fetch(const std::uint32_t* words) {
  _mm_prefetch(reinterpret_cast<const char*>(words) + 3072, _MM_HINT_T0);   // hardware stops at the end of a page
}

}  // namespace
}  // namespace tenfold::backends::cpu
