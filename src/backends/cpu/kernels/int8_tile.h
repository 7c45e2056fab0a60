// Walks down a panel of an int8 product in register tiles: operations `V` give lanes, rows and tile<Rows, Vectors>().
#pragma once

#include "backends/cpu/kernels/int8.h"

namespace tenfold::backends::cpu {
namespace {

template <class V, int Vectors, int Rows>
void int8_last_rows(std::int64_t rows, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
                    const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride) {
  if (rows == Rows)
    return V::template tile<Rows, Vectors>(a, a_stride, b, k_groups, order, init ? init : c, init ? 0 : c_stride, c, c_stride);
  if constexpr (Rows > 1) int8_last_rows<V, Vectors, Rows - 1>(rows, a, a_stride, b, k_groups, order, init, c, c_stride);
}

template <class V, int Vectors>
void int8_panel_of(std::int64_t rows, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
                   const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride) {
  for (; rows >= V::rows; rows -= V::rows, a += V::rows * a_stride, c += V::rows * c_stride)
    V::template tile<V::rows, Vectors>(a, a_stride, b, k_groups, order, init ? init : c, init ? 0 : c_stride, c, c_stride);
  if (rows > 0) int8_last_rows<V, Vectors, V::rows - 1>(rows, a, a_stride, b, k_groups, order, init, c, c_stride);
}

// Int8Kernels::panel for operations V.
template <class V>
void int8_panel(std::int64_t rows, int width, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups,
                const std::uint16_t* order, const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool) {
  if (width == 2 * V::lanes)
    int8_panel_of<V, 2>(rows, a, a_stride, b, k_groups, order, init, c, c_stride);
  else
    int8_panel_of<V, 1>(rows, a, a_stride, b, k_groups, order, init, c, c_stride);
}

}  // namespace
}  // namespace tenfold::backends::cpu
