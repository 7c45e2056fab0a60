// The 1x1 convolution of a line: two tiles of positions times two of columns, and what ends them.
#include "backends/cpu/kernels/expand_bf16.h"

#include <immintrin.h>

#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kTile = 16, kDepth = 32, kPanel = 32;

struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// Tile registers are literal numbers: 0-3 sums [tile of positions][tile of columns], 4 and 5 positions and columns of 32 channels,
// 6 and 7 those of the channels that are left.
void enter(std::int64_t positions, std::int64_t channels) {
  TileShapes shapes;
  const auto rows = static_cast<std::uint8_t>(positions < kTile ? positions : kTile);
  const std::int64_t rest = channels % kDepth;
  for (int i = 0; i < 8; ++i) shapes.row_bytes[i] = 64, shapes.rows[i] = rows;
  shapes.rows[5] = kTile;
  shapes.row_bytes[6] = static_cast<std::uint16_t>(rest ? rest * 2 : 64);
  shapes.rows[7] = static_cast<std::uint8_t>(rest ? rest / 2 : kTile);
  asm volatile("" : : "r"(&shapes) : "memory");   // GCC takes the intrinsic to read no more than eight bytes
  _tile_loadconfig(&shapes);
}
void leave() { _tile_release(); }

template <bool kTwo>
void multiply(const ExpandBf16Line& l, const std::uint16_t* upper, const std::uint16_t* lower, const std::uint16_t* b,
              float (&sums)[2 * kTile][kPanel]) {
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kTwo) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const std::int64_t stride = l.step * 2;
  std::int64_t c = 0;
  for (; c + kDepth <= l.channels; c += kDepth, b += kDepth * kPanel) {
    _tile_loadd(4, upper + c, stride);
    _tile_loadd(5, b, 64);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(5, b + kDepth * kTile, 64);
    _tile_dpbf16ps(1, 4, 5);
    if constexpr (kTwo) {
      _tile_loadd(4, lower + c, stride);
      _tile_dpbf16ps(3, 4, 5);
      _tile_loadd(5, b, 64);
      _tile_dpbf16ps(2, 4, 5);
    }
  }
  if (c < l.channels) {
    _tile_loadd(6, upper + c, stride);
    _tile_loadd(7, b, 64);
    _tile_dpbf16ps(0, 6, 7);
    _tile_loadd(7, b + kDepth * kTile, 64);
    _tile_dpbf16ps(1, 6, 7);
    if constexpr (kTwo) {
      _tile_loadd(6, lower + c, stride);
      _tile_dpbf16ps(3, 6, 7);
      _tile_loadd(7, b, 64);
      _tile_dpbf16ps(2, 6, 7);
    }
  }
  _tile_stored(0, &sums[0][0], kPanel * 4);
  _tile_stored(1, &sums[0][kTile], kPanel * 4);
  if constexpr (kTwo) {
    _tile_stored(2, &sums[kTile][0], kPanel * 4);
    _tile_stored(3, &sums[kTile][kTile], kPanel * 4);
  }
}

__m512 wide(const std::uint16_t* p, std::int64_t count) {
  const auto lanes = static_cast<__mmask16>(count >= kTile ? 0xffffu : count <= 0 ? 0u : (1u << count) - 1);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, p)), 16));
}

template <bool kClamp>
void finish(const ExpandBf16Line& l, const float (*sums)[kPanel], std::int64_t rows, std::int64_t column, std::uint16_t* out) {
  const __m512 first = wide(l.bias + column, l.columns - column), second = wide(l.bias + column + kTile, l.columns - column - kTile);
  const __m512 low = _mm512_set1_ps(l.low), high = _mm512_set1_ps(l.high);   // the second operand if there is a NaN
  out += column;
  for (std::int64_t r = 0; r < rows; ++r, out += l.out_step) {
    __m512 a = _mm512_add_ps(_mm512_load_ps(sums[r]), first), b = _mm512_add_ps(_mm512_load_ps(sums[r] + kTile), second);
    if constexpr (kClamp) {
      a = _mm512_min_ps(high, _mm512_max_ps(low, a));
      b = _mm512_min_ps(high, _mm512_max_ps(low, b));
    }
    _mm512_storeu_si512(out, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
  }
}

// Tiles overlap where the positions are no whole number of them: those are computed twice.
void line(const ExpandBf16Line& l) {
  const std::int64_t rows = l.positions < kTile ? l.positions : kTile, last = l.positions - rows;
  alignas(64) float sums[2 * kTile][kPanel];
  for (std::int64_t at = 0; at < l.positions; at += 2 * kTile) {
    const bool two = at + kTile < l.positions;
    const std::int64_t first = at < last ? at : last, second = at + kTile < last ? at + kTile : last;
    for (std::int64_t panel = 0; panel < l.panels; ++panel) {
      const std::uint16_t* const b = l.matrix + panel * kPanel * l.depth;
      if (two)
        multiply<true>(l, l.x + first * l.step, l.x + second * l.step, b, sums);
      else
        multiply<false>(l, l.x + first * l.step, nullptr, b, sums);
      const auto end = l.clamp ? finish<true> : finish<false>;
      end(l, sums, rows, panel * kPanel, l.out + first * l.out_step);
      if (two) end(l, sums + kTile, rows, panel * kPanel, l.out + second * l.out_step);
    }
  }
}

}  // namespace

extern "C" const ExpandBf16Kernels TENFOLD_TABLE(expand_bf16) = {enter, leave, line};

}  // namespace tenfold::backends::cpu
