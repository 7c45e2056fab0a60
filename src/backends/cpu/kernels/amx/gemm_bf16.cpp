// The bf16 product with AMX: two tiles of rows times two of columns keep four accumulators busy.
#include "backends/cpu/kernels/gemm_bf16.h"

#include <immintrin.h>

#include "backends/cpu/kernels/amx/gelu.h"
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
void multiply_rows(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
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
  const std::int64_t bytes = stride * 4;
  _tile_stored(0, sums, bytes);
  _tile_stored(1, sums + kTile, bytes);
  if constexpr (kTwoRows) {
    _tile_stored(2, sums + kTile * stride, bytes);
    _tile_stored(3, sums + kTile * stride + kTile, bytes);
  }
}

void multiply(const GemmBf16Tile& t, float* sums, std::int64_t stride) {
  if (t.a[1] != nullptr)
    multiply_rows<true>(t, sums, stride);
  else
    multiply_rows<false>(t, sums, stride);
}

__m512 load(bool wide, __mmask16 lanes, const char* from) {
  if (wide) return _mm512_maskz_loadu_ps(lanes, from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from)), 16));
}

// One row, 16 values of f32 or bf16 at a time: memory is touched in its order, as the fetching ahead wants it.
template <bool kResidual, bool kWide, bool kGelu>
void finish_row(const GemmBf16Finish& f, const float* sums, const char* residual, std::int64_t cols, char* out) {
  const __m512 low = _mm512_set1_ps(f.low), high = _mm512_set1_ps(f.high);
  const int bias_bytes = f.bias_wide ? 4 : 2, residual_bytes = f.residual_wide ? 4 : 2;
  for (std::int64_t c = 0; c < cols; c += 16) {
    const __mmask16 lanes = lanes_of(cols - c);
    __m512 v = _mm512_loadu_ps(sums + c);
    if (f.bias) v = _mm512_add_ps(v, load(f.bias_wide, lanes, f.bias + c * bias_bytes));
    if constexpr (kResidual) v = _mm512_add_ps(v, load(f.residual_wide, lanes, residual + c * residual_bytes));
    if (f.clamp) v = _mm512_min_ps(high, _mm512_max_ps(low, v));   // keeps NaN
    if constexpr (kGelu) v = gelu_erf(v);
    if constexpr (kWide)
      _mm512_mask_storeu_ps(out + c * 4, lanes, v);
    else
      _mm256_mask_storeu_epi16(out + c * 2, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(v)));
  }
}

void finish(const GemmBf16Finish& f, const float* sums, std::int64_t stride, std::int64_t rows, std::int64_t cols, char* out,
            std::int64_t out_stride) {
  using Row = decltype(&finish_row<false, false, false>);
  static constexpr Row kRow[2][2][2] = {{{finish_row<false, false, false>, finish_row<false, false, true>},
                                         {finish_row<false, true, false>, finish_row<false, true, true>}},
                                        {{finish_row<true, false, false>, finish_row<true, false, true>},
                                         {finish_row<true, true, false>, finish_row<true, true, true>}}};
  const Row row = kRow[f.residual != nullptr][f.out_wide][f.gelu];
  const std::int64_t out_bytes = out_stride * (f.out_wide ? 4 : 2), residual_bytes = f.residual_stride * (f.residual_wide ? 4 : 2);
  const char* residual = f.residual;
  for (std::int64_t r = 0; r < rows; ++r, sums += stride, out += out_bytes) {
    row(f, sums, residual, cols, out);
    if (residual) residual += residual_bytes;
  }
}

}  // namespace

extern "C" const GemmBf16Kernels TENFOLD_TABLE(gemm_bf16) = {enter, leave, convert, multiply, finish};

}  // namespace tenfold::backends::cpu
