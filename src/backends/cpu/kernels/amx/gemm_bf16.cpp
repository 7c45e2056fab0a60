// The bf16 product with AMX: two tiles of rows times two of columns keep four accumulators busy.
#include "backends/cpu/kernels/gemm_bf16.h"

#include <immintrin.h>

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr int kTile = 16, kStepBytes = 64, kPanelTile = 512;   // rows of a tile, bytes of a step of A, values of a tile of B

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileShapes kShapes;

void enter() { _tile_loadconfig(&kShapes); }
void leave() { _tile_release(); }

__mmask16 lanes_of(std::int64_t left) { return left >= 16 ? __mmask16{0xffff} : static_cast<__mmask16>((1u << left) - 1); }

void convert(const float* from, std::int64_t count, std::uint16_t* to) {
  for (; count > 0; count -= 16, from += 16, to += 16) {
    const __mmask16 lanes = lanes_of(count);
    _mm256_mask_storeu_epi16(to, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, from))));
  }
}

// Tile registers are literal numbers: 0-3 sums [row tile][column tile], 4-5 rows of A, 6-7 columns of B.
template <bool kTwoRows>
void multiply_rows(const GemmBf16Tile& t, float (*sums)[32]) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTwoRows) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const std::uint16_t* b = t.panel;
  for (std::int64_t tap = 0; tap < t.tap_count; ++tap) {
    const char *upper = t.a[0] + t.taps[tap], *lower = t.a[kTwoRows ? 1 : 0] + t.taps[tap];
    for (std::int64_t s = 0; s < t.steps; ++s, upper += kStepBytes, lower += kStepBytes, b += 2 * kPanelTile) {
      _tile_loadd(6, b, kStepBytes);
      _tile_loadd(7, b + kPanelTile, kStepBytes);
      _tile_loadd(4, upper, t.row_bytes[0]);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      if constexpr (kTwoRows) {
        _tile_loadd(5, lower, t.row_bytes[1]);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  _tile_stored(0, &sums[0][0], 128);
  _tile_stored(1, &sums[0][16], 128);
  if constexpr (kTwoRows) {
    _tile_stored(2, &sums[kTile][0], 128);
    _tile_stored(3, &sums[kTile][16], 128);
  }
}

void multiply(const GemmBf16Tile& t, float (*sums)[32]) {
  if (t.a[1] != nullptr)
    multiply_rows<true>(t, sums);
  else
    multiply_rows<false>(t, sums);
}

template <bool kWide>
__m512 load(__mmask16 lanes, const char* from) {
  if constexpr (kWide) return _mm512_maskz_loadu_ps(lanes, from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from)), 16));
}
__m512 load(bool wide, __mmask16 lanes, const char* from) { return wide ? load<true>(lanes, from) : load<false>(lanes, from); }

// 16 columns of all rows.
template <bool kWideOut>
void finish_columns(const GemmBf16Finish& f, const float* sums, std::int64_t rows, std::int64_t column, __mmask16 lanes, char* out,
                    std::int64_t stride) {
  constexpr int kOut = kWideOut ? 4 : 2;
  const __m512 bias = f.bias ? load(f.bias_wide, lanes, f.bias + column * (f.bias_wide ? 4 : 2)) : _mm512_setzero_ps();
  const __m512 low = _mm512_set1_ps(f.low), high = _mm512_set1_ps(f.high);
  const int residual_bytes = f.residual_wide ? 4 : 2;
  const char* residual = f.residual ? f.residual + column * residual_bytes : nullptr;
  out += column * kOut;
  for (std::int64_t r = 0; r < rows; ++r, sums += 32, out += stride * kOut) {
    __m512 v = _mm512_add_ps(_mm512_loadu_ps(sums + column), bias);
    if (residual) {
      v = _mm512_add_ps(v, load(f.residual_wide, lanes, residual));
      residual += f.residual_stride * residual_bytes;
    }
    if (f.clamp) v = _mm512_min_ps(high, _mm512_max_ps(low, v));   // keeps NaN
    if constexpr (kWideOut)
      _mm512_mask_storeu_ps(out, lanes, v);
    else
      _mm256_mask_storeu_epi16(out, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v)));
  }
}

void finish(const GemmBf16Finish& f, const float (*sums)[32], std::int64_t rows, std::int64_t cols, char* out, std::int64_t stride) {
  for (std::int64_t c = 0; c < cols; c += 16) {
    if (f.out_wide)
      finish_columns<true>(f, sums[0], rows, c, lanes_of(cols - c), out, stride);
    else
      finish_columns<false>(f, sums[0], rows, c, lanes_of(cols - c), out, stride);
  }
}

}  // namespace

extern "C" const GemmBf16Kernels TENFOLD_TABLE(gemm_bf16) = {enter, leave, convert, multiply, finish};

}  // namespace tenfold::backends::cpu
