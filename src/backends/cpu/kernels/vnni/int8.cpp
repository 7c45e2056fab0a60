// Int8 products with AVX512_VNNI: vpdpbusd multiplies four unsigned by four signed bytes into 32 bits without saturation.
//
// Unsigned rows are used where they lie. Signed rows are made unsigned by adding 128 while they are expanded; the tactic corrects
// for that with the sums of the weights' columns.
#include <immintrin.h>

#include "backends/cpu/kernels/int8_tile.h"

namespace tenfold::backends::cpu {
namespace {

struct Quads {
  static constexpr int lanes = 16, rows = 12;

  template <int Rows, int Vectors>
  static void tile(const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups, const std::uint16_t*,
                   const std::int32_t* init, std::int64_t init_stride, std::int32_t* c, std::int64_t c_stride) {
    __m512i acc[Rows][Vectors];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[r][v] = _mm512_loadu_si512(init + r * init_stride + v * lanes);
    // The panel that follows in memory is the next one, as a rule: fetched meanwhile, for weights of a large model lie in no cache.
    const char* soon = b + k_groups * Vectors * lanes * 4;
    for (std::int64_t k = 0; k < k_groups; ++k) {
      __m512i panel[Vectors];
      if constexpr (Rows == rows) {
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v, soon += lanes * 4) _mm_prefetch(soon, _MM_HINT_T1);
      }
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) panel[v] = _mm512_loadu_si512(b + v * lanes * 4);
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        const __m512i value = _mm512_set1_epi32(*reinterpret_cast<const std::int32_t*>(a + r * a_stride));
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], value, panel[v]);
      }
      a += 4;
      b += Vectors * lanes * 4;
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) _mm512_storeu_si512(c + r * c_stride + v * lanes, acc[r][v]);
  }
};

// Copies bytes, with their top bit turned over if they are signed.
void expand(const void* source, std::int64_t count, bool is_signed, void* packed) {
  const auto* from = static_cast<const char*>(source);
  auto* to = static_cast<char*>(packed);
  const __m512i flip = _mm512_set1_epi8(is_signed ? static_cast<char>(0x80) : 0);
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64) _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), flip));
  if (i < count) {
    const __mmask64 mask = _bzhi_u64(~0ULL, static_cast<unsigned>(count - i));
    _mm512_mask_storeu_epi8(to + i, mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from + i), flip));
  }
}

}  // namespace

extern "C" const Int8Kernels TENFOLD_TABLE(int8) = {
    .mr = Quads::rows, .nr = 2 * Quads::lanes, .k_group = 4, .k_step = 1, .k_chunk = 1024, .ordered = false, .signed_shift = 128,
    .direct_unsigned = true, .direct_signed = false, .enter = nullptr, .leave = nullptr, .expand = expand, .panel = int8_panel<Quads>};

}  // namespace tenfold::backends::cpu
