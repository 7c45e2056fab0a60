// Micro-kernels of a product of few rows whose weights are stored in 24 bits.
//
// A group of four values of K takes three vectors of a panel's columns: each holds one value in its upper 24 bits and 8 bits of the
// fourth below, which disturb their host by less than its own rounding. So three loads and a few shifts give four weights.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

inline constexpr int kGemvMaxRows = 16;

// Of the tile are read: rows, k, panel and panel_step (in floats), c, c_stride, cols, epilogue.
struct GemvF24Kernels {
  int panel = 0;                      // columns: one vector
  int max_rows = 0;
  int wide[kGemvMaxRows] = {};       // [rows - 1]: panels that the wide form takes; all but the last column range must exist
  GemmF32Function tile[kGemvMaxRows][2][2] = {};  // [rows - 1][bits below must go: weights hold Inf, NaN or extremes][wide]
};

extern "C" const GemvF24Kernels tenfold_gemv_f24_avx2, tenfold_gemv_f24_avx512;

}  // namespace tenfold::backends::cpu
