// Rounding to bf16 by the CPU's own instruction, in loops of the block executor.
#include <immintrin.h>

#include "backends/cpu/kernels/pointwise.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;
using std::uint16_t;

inline __mmask16 lanes(int64_t n) { return static_cast<__mmask16>((1u << n) - 1); }
inline __m256i rounded(__m512 v) { return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v)); }
inline __m512 widened(__m256i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16)); }

struct ToBf16 {
  using To = uint16_t;
  static void put(uint16_t* to, __m512 v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), rounded(v)); }
  static void put(uint16_t* to, __m512 v, __mmask16 m) { _mm256_mask_storeu_epi16(to, m, rounded(v)); }
};
struct RoundToBf16 {
  using To = float;
  static void put(float* to, __m512 v) { _mm512_storeu_ps(to, widened(rounded(v))); }
  static void put(float* to, __m512 v, __mmask16 m) { _mm512_mask_storeu_ps(to, m, widened(rounded(v))); }
};

template <class Store>
void map(void* out, int64_t out_row, const PointwiseArg* args, unsigned uniform, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    auto* const to = static_cast<typename Store::To*>(out) + r * out_row;
    const float* const from = static_cast<const float*>(args[0].data) + r * args[0].row_stride;
    const bool same = (uniform & 1) != 0;
    const __m512 one = _mm512_set1_ps(same ? *from : 0.f);
    int64_t c = 0;
    for (; c + 16 <= cols; c += 16) Store::put(to + c, same ? one : _mm512_loadu_ps(from + c));
    if (const __mmask16 rest = lanes(cols - c)) Store::put(to + c, same ? one : _mm512_maskz_loadu_ps(rest, from + c), rest);
  }
}

}  // namespace

extern "C" constinit const PointwiseBf16Kernels TENFOLD_TABLE(pointwise_bf16) = {map<ToBf16>, map<RoundToBf16>};

}  // namespace tenfold::backends::cpu
