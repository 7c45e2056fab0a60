// Int8 products without VNNI: both operands widened to 16 bits, multiplied in pairs by vpmaddwd, which cannot saturate.
//
// vpmaddubsw would take 8-bit operands but saturates at 16 bits; on the multiply ports it costs the same, since its result
// needs a second vpmaddwd to get to 32 bits.
#include <immintrin.h>

#include "backends/cpu/kernels/int8_tile.h"

namespace tenfold::backends::cpu {
namespace {

#ifdef TENFOLD_ISA_avx512
struct Pairs {
  using Acc = __m512i;
  using Operand = __m512i;
  static constexpr int lanes = 16, rows = 12;
  static Acc load_acc(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static void store_acc(std::int32_t* p, Acc v) { _mm512_storeu_si512(p, v); }
  static Operand load_b(const char* p) { return _mm512_loadu_si512(p); }
  static Operand broadcast_a(const char* p) { return _mm512_set1_epi32(*reinterpret_cast<const std::int32_t*>(p)); }
  static Acc mac(Acc acc, Operand a, Operand b) { return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b)); }
};
#else
struct Pairs {
  using Acc = __m256i;
  using Operand = __m256i;
  static constexpr int lanes = 8, rows = 6;
  static Acc load_acc(const std::int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static void store_acc(std::int32_t* p, Acc v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  static Operand load_b(const char* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Operand broadcast_a(const char* p) { return _mm256_set1_epi32(*reinterpret_cast<const std::int32_t*>(p)); }
  static Acc mac(Acc acc, Operand a, Operand b) { return _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)); }
};
#endif

template <bool Signed>
void expand_to_16(const std::uint8_t* source, std::int64_t count, std::int16_t* packed) {
  std::int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(packed + i), Signed ? _mm256_cvtepi8_epi16(v) : _mm256_cvtepu8_epi16(v));
  }
  for (; i + 4 <= count; i += 4) {
    const __m128i v = _mm_cvtsi32_si128(*reinterpret_cast<const std::int32_t*>(source + i));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(packed + i), Signed ? _mm_cvtepi8_epi16(v) : _mm_cvtepu8_epi16(v));
  }
  for (; i < count; ++i) packed[i] = Signed ? static_cast<std::int8_t>(source[i]) : source[i];
}

void expand(const void* source, std::int64_t count, bool is_signed, void* packed) {
  const auto* bytes = static_cast<const std::uint8_t*>(source);
  if (is_signed)
    expand_to_16<true>(bytes, count, static_cast<std::int16_t*>(packed));
  else
    expand_to_16<false>(bytes, count, static_cast<std::int16_t*>(packed));
}

}  // namespace

extern "C" const Int8Kernels TENFOLD_TABLE(int8) = {
    .mr = Pairs::rows, .nr = 2 * Pairs::lanes, .k_group = 2, .k_step = 1, .a_bytes = 2, .b_bytes = 2, .k_chunk = 512, .signed_shift = 0,
    .direct_unsigned = false, .direct_signed = false, .enter = nullptr, .leave = nullptr, .expand = expand, .tile = int8_tile_any<Pairs>};

}  // namespace tenfold::backends::cpu
