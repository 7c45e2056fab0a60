// Picks the register tile of an int8 product: a set of operations `V` gives lanes, rows and tile<Rows, Vectors>().
#pragma once

#include "backends/cpu/kernels/int8.h"

namespace tenfold::backends::cpu {
namespace {

template <class V, int Vectors, int Rows = V::rows>
void int8_tile_rows(int rows, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups, const std::uint16_t* order,
                    const std::int32_t* init, std::int32_t* c, std::int64_t c_stride) {
  if (rows == Rows) return V::template tile<Rows, Vectors>(a, a_stride, b, k_groups, order, init, c, c_stride);
  if constexpr (Rows > 1) int8_tile_rows<V, Vectors, Rows - 1>(rows, a, a_stride, b, k_groups, order, init, c, c_stride);
}

// Int8Kernels::tile for operations V.
template <class V>
void int8_tile_any(int rows, int width, const void* a, std::int64_t a_stride, const void* b, std::int64_t k_groups,
                   const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool) {
  const auto* pa = static_cast<const char*>(a);
  const auto* pb = static_cast<const char*>(b);
  if (width == 2 * V::lanes)
    int8_tile_rows<V, 2>(rows, pa, a_stride, pb, k_groups, order, init, c, c_stride);
  else
    int8_tile_rows<V, 1>(rows, pa, a_stride, pb, k_groups, order, init, c, c_stride);
}

}  // namespace
}  // namespace tenfold::backends::cpu
