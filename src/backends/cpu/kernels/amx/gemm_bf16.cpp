// The bf16 product with AMX: two tiles of rows times two of columns keep four accumulators busy.
#include "backends/cpu/kernels/gemm_bf16.h"

#include <immintrin.h>

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileShapes kShapes;

void enter() { _tile_loadconfig(&kShapes); }
void leave() { _tile_release(); }

void convert(const float* from, std::int64_t count, std::uint16_t* to) {
  for (; count >= 16; count -= 16, from += 16, to += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_loadu_ps(from))));
  if (count <= 0) return;
  const auto lanes = static_cast<__mmask16>((1u << count) - 1);
  _mm256_mask_storeu_epi16(to, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, from))));
}

// Tile registers are literal numbers: 0-3 sums [row tile][column tile], 4-5 rows of A, 6-7 columns of B.
template <bool kTwoRows>
void multiply(const GemmBf16Tile& t, float (&sums)[32][32]) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTwoRows) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const std::int64_t stride = t.a_stride * 2;
  const std::uint16_t *a = t.a, *b = t.panel;
  for (std::int64_t k = 0; k < t.depth; k += 32, a += 32, b += 1024) {
    _tile_loadd(6, b, 64);
    _tile_loadd(7, b + 512, 64);
    _tile_loadd(4, a, stride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kTwoRows) {
      _tile_loadd(5, a + 16 * t.a_stride, stride);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, &sums[0][0], 128);
  _tile_stored(1, &sums[0][16], 128);
  if constexpr (kTwoRows) {
    _tile_stored(2, &sums[16][0], 128);
    _tile_stored(3, &sums[16][16], 128);
  }
}

// One row's 16 columns from `column` on: what the finish says, then the store.
void finish_half(const GemmBf16Tile& t, const float* sums, int row, int column) {
  if (column >= t.cols) return;
  const int left = t.cols - column;
  const __mmask16 lanes = left >= 16 ? __mmask16{0xffff} : static_cast<__mmask16>((1u << left) - 1);
  __m512 v = _mm512_loadu_ps(sums + column);
  if (const GemmF32Finish* f = t.finish) {
    if (f->bias) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(lanes, f->bias + column));
    if (f->residual) v = _mm512_add_ps(v, _mm512_maskz_loadu_ps(lanes, f->residual + row * f->residual_stride + column));
    if (f->clamp) v = _mm512_min_ps(_mm512_set1_ps(f->high), _mm512_max_ps(_mm512_set1_ps(f->low), v));  // keeps NaN
  }
  _mm512_mask_storeu_ps(t.c + row * t.c_stride + column, lanes, v);
}

void tile(const GemmBf16Tile& t) {
  alignas(64) float sums[32][32];
  if (t.rows > 16)
    multiply<true>(t, sums);
  else
    multiply<false>(t, sums);
  for (int row = 0; row < t.rows; ++row) {
    finish_half(t, sums[row], row, 0);
    finish_half(t, sums[row], row, 16);
  }
}

}  // namespace

extern "C" const GemmBf16Kernels TENFOLD_TABLE(gemm_bf16) = {enter, leave, convert, tile};

}  // namespace tenfold::backends::cpu
