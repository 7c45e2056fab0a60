// Fused attention with AMX: rows times panels.
#pragma once

#include "backends/cpu/kernels/amx/attention_layout.h"

namespace tenfold::backends::cpu {
namespace {

// c[16 or 32 rows x 32] (+)= a * panel. Tile registers are literal numbers: 0-3 sums [row tile][column tile], 4-5 rows of a, 6-7 columns.
template <bool kTwoRows>
inline void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kTwoRows) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}
template <bool kTwoRows>
inline void add_products_of(const char* rows, int64_t a_bytes) {
  _tile_loadd(4, rows, a_bytes);
  if constexpr (kTwoRows) _tile_loadd(5, rows + 16 * a_bytes, a_bytes);
  add_products<kTwoRows>();
}
template <bool kTwoRows, bool kAdd, int kTerms>
inline void multiply(const void* a, int64_t a_bytes, const uint16_t* panel, int64_t steps, float* c, int64_t c_row) {
  const int64_t c_bytes = c_row * 4;
  if constexpr (kAdd) {
    _tile_loadd(0, c, c_bytes);
    _tile_loadd(1, c + 16, c_bytes);
    if constexpr (kTwoRows) _tile_loadd(2, c + 16 * c_row, c_bytes);
    if constexpr (kTwoRows) _tile_loadd(3, c + 16 * c_row + 16, c_bytes);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kTwoRows) _tile_zero(2);
    if constexpr (kTwoRows) _tile_zero(3);
  }
  const char* rows = static_cast<const char*>(a);
  for (int64_t i = 0; i < steps; ++i, rows += 64 * kTerms, panel += kStep * kTerms) {
    _tile_loadd(6, panel, 64);
    _tile_loadd(7, panel + kTile, 64);
    if constexpr (kTerms == 2) add_products_of<kTwoRows>(rows + 64, a_bytes);
    add_products_of<kTwoRows>(rows, a_bytes);
    if constexpr (kTerms == 2) {
      _tile_loadd(6, panel + kStep, 64);
      _tile_loadd(7, panel + kStep + kTile, 64);
      add_products<kTwoRows>();
    }
  }
  _tile_stored(0, c, c_bytes);
  _tile_stored(1, c + 16, c_bytes);
  if constexpr (kTwoRows) {
    _tile_stored(2, c + 16 * c_row, c_bytes);
    _tile_stored(3, c + 16 * c_row + 16, c_bytes);
  }
}
template <bool kAdd, int kTerms>
void multiply_panels(int64_t rows, const void* a, int64_t a_bytes, const uint16_t* panels, int64_t panel_step, int64_t steps,
                     int64_t columns, float* c, int64_t c_row) {
  for (int64_t column = 0; column < columns; column += 32, panels += panel_step * kTerms)
    rows > 16 ? multiply<true, kAdd, kTerms>(a, a_bytes, panels, steps, c + column, c_row)
              : multiply<false, kAdd, kTerms>(a, a_bytes, panels, steps, c + column, c_row);
}

}  // namespace
}  // namespace tenfold::backends::cpu
