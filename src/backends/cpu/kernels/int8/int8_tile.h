// Walks down a panel of an int8 product in register tiles: operations `V` give lanes, rows, how many rows the last tile
// may have, and tile<Rows, Vectors>().
#pragma once

#include "backends/cpu/kernels/int8/int8.h"

namespace tenfold::backends::cpu {
namespace {

// Rows of A, one `stride` behind the other.
struct Int8Strided {
  const char* first;
  std::int64_t stride;
  Int8Strided from(std::int64_t row, std::int64_t /*k_groups*/) const { return {first + row * stride, stride}; }
};

template <class V, int Vectors, int Rows, class A>
void int8_last_rows(std::int64_t rows, A a, const char* b, std::int64_t k_groups, const std::uint16_t* order, const std::int32_t* init,
                    std::int32_t* c, std::int64_t c_stride) {
  if (rows == Rows) return V::template tile<Rows, Vectors>(a, b, k_groups, order, init ? init : c, init ? 0 : c_stride, c, c_stride);
  if constexpr (Rows > 1) int8_last_rows<V, Vectors, Rows - 1>(rows, a, b, k_groups, order, init, c, c_stride);
}

template <class V, int Vectors, class A>
void int8_panel_of(std::int64_t rows, A a, const char* b, std::int64_t k_groups, const std::uint16_t* order, const std::int32_t* init,
                   std::int32_t* c, std::int64_t c_stride) {
  for (; rows > V::last_rows; rows -= V::rows, a = a.from(V::rows, k_groups), c += V::rows * c_stride)
    V::template tile<V::rows, Vectors>(a, b, k_groups, order, init ? init : c, init ? 0 : c_stride, c, c_stride);
  if (rows > 0) int8_last_rows<V, Vectors, V::last_rows>(rows, a, b, k_groups, order, init, c, c_stride);
}

// Int8Kernels::panel for operations V, of rows A.
template <class V, class A>
void int8_panel(std::int64_t rows, int width, A a, const char* b, std::int64_t k_groups, const std::uint16_t* order,
                const std::int32_t* init, std::int32_t* c, std::int64_t c_stride) {
  if (width == 2 * V::lanes)
    int8_panel_of<V, 2>(rows, a, b, k_groups, order, init, c, c_stride);
  else
    int8_panel_of<V, 1>(rows, a, b, k_groups, order, init, c, c_stride);
}

}  // namespace
}  // namespace tenfold::backends::cpu
