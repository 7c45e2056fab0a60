// The register tile of the int8 products, written once over a set of vector operations `V`.
//
// V gives: Acc, Operand; lanes; zero(), load_acc, store_acc, load_b, broadcast_a, mac(acc, a, b).
#pragma once

#include "backends/cpu/kernels/int8.h"

namespace tenfold::backends::cpu {
namespace {

template <class V, int Rows, int Vectors>
void int8_tile(const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups, const std::int32_t* init, std::int32_t* c,
               std::int64_t c_stride) {
  constexpr int kStep = V::lanes * 4;   // bytes of one vector of B: 4 for each lane
  typename V::Acc acc[Rows][Vectors];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) acc[r][v] = V::load_acc((init ? init : c + r * c_stride) + v * V::lanes);
  for (std::int64_t k = 0; k < k_groups; ++k) {
    typename V::Operand panel[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) panel[v] = V::load_b(b + v * kStep);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const typename V::Operand value = V::broadcast_a(a + r * a_stride);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) acc[r][v] = V::mac(acc[r][v], value, panel[v]);
    }
    a += 4;
    b += Vectors * kStep;
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) V::store_acc(c + r * c_stride + v * V::lanes, acc[r][v]);
}

template <class V, int Vectors>
void int8_tile_rows(int rows, const char* a, std::int64_t a_stride, const char* b, std::int64_t k_groups, const std::int32_t* init,
                    std::int32_t* c, std::int64_t c_stride) {
  switch (rows) {
#define TENFOLD_ROWS(n) \
  case n:               \
    if constexpr (n <= V::rows) int8_tile<V, n, Vectors>(a, a_stride, b, k_groups, init, c, c_stride); \
    break
    TENFOLD_ROWS(1);
    TENFOLD_ROWS(2);
    TENFOLD_ROWS(3);
    TENFOLD_ROWS(4);
    TENFOLD_ROWS(5);
    TENFOLD_ROWS(6);
    TENFOLD_ROWS(7);
    TENFOLD_ROWS(8);
    TENFOLD_ROWS(9);
    TENFOLD_ROWS(10);
    TENFOLD_ROWS(11);
    TENFOLD_ROWS(12);
#undef TENFOLD_ROWS
    default: break;
  }
}

// Int8Kernels::tile for vector operations V.
template <class V>
void int8_tile_any(int rows, int width, const void* a, std::int64_t a_stride, const void* b, std::int64_t k_groups,
                   const std::int32_t* init, std::int32_t* c, std::int64_t c_stride, bool) {
  const auto* pa = static_cast<const char*>(a);
  const auto* pb = static_cast<const char*>(b);
  if (width == 2 * V::lanes)
    int8_tile_rows<V, 2>(rows, pa, a_stride, pb, k_groups, init, c, c_stride);
  else
    int8_tile_rows<V, 1>(rows, pa, a_stride, pb, k_groups, init, c, c_stride);
}

}  // namespace
}  // namespace tenfold::backends::cpu
