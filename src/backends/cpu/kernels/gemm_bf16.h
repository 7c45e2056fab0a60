// The bf16 product with f32 sums, on AMX tiles: 32 rows of A times 32 columns of B.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/gemm_f32.h"

namespace tenfold::backends::cpu {

struct GemmBf16Tile {
  int rows = 0, cols = 0;                // that exist, at most 32
  const std::uint16_t* a = nullptr;      // 32 rows, `depth` values each; rows beyond `rows` may hold anything
  std::int64_t a_stride = 0;             // in values
  const std::uint16_t* panel = nullptr;  // [depth / 32][2 tiles of columns][16 pairs of k][16 columns][2]
  std::int64_t depth = 0;                // a multiple of 32
  float* c = nullptr;
  std::int64_t c_stride = 0;
  const GemmF32Finish* finish = nullptr;
};

struct GemmBf16Kernels {
  void (*enter)() = nullptr;                                                            // sets up the tile registers of this thread ...
  void (*leave)() = nullptr;                                                            // ... and gives them back
  void (*convert)(const float* from, std::int64_t count, std::uint16_t* to) = nullptr;  // to nearest even
  void (*tile)(const GemmBf16Tile&) = nullptr;
};
extern "C" const GemmBf16Kernels tenfold_gemm_bf16_amx;

}  // namespace tenfold::backends::cpu
