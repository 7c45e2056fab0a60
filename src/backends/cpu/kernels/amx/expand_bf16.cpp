// The 1x1 convolution of a line: two tiles of positions times two of columns, and what becomes of them.
#include "backends/cpu/kernels/conv/expand_bf16.h"

#include <immintrin.h>

#include "backends/cpu/kernels/amx/tile_shapes.h"
#include "backends/cpu/simd/isa.h"

namespace tenfold::backends::cpu {
namespace {

constexpr std::int64_t kTile = 16, kDepth = 32, kPanel = 32;

// Tile registers are literal numbers: 0-3 sums [tile of positions][tile of columns], 4 and 5 positions and columns of 32 channels,
// 6 and 7 those of the channels that are left.
void enter(std::int64_t positions, std::int64_t channels) {
  TileShapes shapes;
  const auto rows = static_cast<std::uint8_t>(positions < kTile ? positions : kTile);
  const std::int64_t rest = channels % kDepth;
  for (int i = 0; i < 8; ++i) shapes.rows[i] = rows;
  shapes.rows[5] = kTile;
  if (rest) shapes.row_bytes[6] = static_cast<std::uint16_t>(rest * 2);
  shapes.rows[7] = static_cast<std::uint8_t>(rest ? rest / 2 : kTile);
  asm volatile("" : : "r"(&shapes) : "memory");   // GCC takes the intrinsic to read no more than eight bytes
  _tile_loadconfig(&shapes);
}
void leave() { _tile_release(); }

// Sums begin at the bias, the same in each row. meanwhile(): what there is to do until the last of them are made.
template <bool kTwo, class Meanwhile>
inline __attribute__((always_inline)) void multiply(const ExpandBf16Line& l, const std::uint16_t* upper, const std::uint16_t* lower,
                                                    const std::uint16_t* b, const float* bias, float (&sums)[2 * kTile][kPanel],
                                                    Meanwhile&& meanwhile) {
  _tile_loadd(0, bias, 0);
  _tile_loadd(1, bias + kTile, 0);
  if constexpr (kTwo) {
    _tile_loadd(2, bias, 0);
    _tile_loadd(3, bias + kTile, 0);
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
  meanwhile();
  _tile_stored(0, &sums[0][0], kPanel * 4);
  _tile_stored(1, &sums[0][kTile], kPanel * 4);
  if constexpr (kTwo) {
    _tile_stored(2, &sums[kTile][0], kPanel * 4);
    _tile_stored(3, &sums[kTile][kTile], kPanel * 4);
  }
}

// Rows of two tiles, of which the second may not be there.
struct Sums {
  alignas(64) float values[2 * kTile][kPanel];
  std::uint16_t *first, *second;   // where they go
};

template <bool kClamp>
void finish(const ExpandBf16Line& l, const float (*sums)[kPanel], std::int64_t rows, std::uint16_t* out) {
  const __m512 low = _mm512_set1_ps(l.low), high = _mm512_set1_ps(l.high);   // the second operand if there is a NaN
  for (std::int64_t r = 0; r < rows; ++r, out += l.out_step) {
    __m512 a = _mm512_load_ps(sums[r]), b = _mm512_load_ps(sums[r] + kTile);
    if constexpr (kClamp) {
      a = _mm512_min_ps(high, _mm512_max_ps(low, a));
      b = _mm512_min_ps(high, _mm512_max_ps(low, b));
    }
    _mm512_storeu_si512(out, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
  }
}
void finish(const ExpandBf16Line& l, const Sums& sums, std::int64_t rows) {
  const auto store = l.clamp ? finish<true> : finish<false>;
  store(l, sums.values, rows, sums.first);
  if (sums.second) store(l, sums.values + kTile, rows, sums.second);
}

// Tiles overlap where the positions are no whole number of them: those are computed twice. Sums are finished while the next ones are
// made.
void line(const ExpandBf16Line& l) {
  const std::int64_t rows = l.positions < kTile ? l.positions : kTile, last = l.positions - rows;
  Sums sums[2];
  int now = 0;
  const Sums* before = nullptr;
  for (std::int64_t at = 0; at < l.positions; at += 2 * kTile) {
    const bool two = at + kTile < l.positions;
    const std::int64_t first = at < last ? at : last, second = at + kTile < last ? at + kTile : last;
    for (std::int64_t panel = 0; panel < l.panels; ++panel, now ^= 1) {
      const std::uint16_t* const b = l.matrix + panel * kPanel * l.depth;
      Sums& s = sums[now];
      const auto meanwhile = [&]() __attribute__((always_inline)) {
        if (before) finish(l, *before, rows);
      };
      if (two)
        multiply<true>(l, l.x + first * l.step, l.x + second * l.step, b, l.bias + panel * kPanel, s.values, meanwhile);
      else
        multiply<false>(l, l.x + first * l.step, nullptr, b, l.bias + panel * kPanel, s.values, meanwhile);
      s.first = l.out + first * l.out_step + panel * kPanel;
      s.second = two ? l.out + second * l.out_step + panel * kPanel : nullptr;
      before = &s;
    }
  }
  if (before) finish(l, *before, rows);
}

}  // namespace

extern "C" const ExpandBf16Kernels TENFOLD_TABLE(expand_bf16) = {enter, leave, line};

}  // namespace tenfold::backends::cpu
