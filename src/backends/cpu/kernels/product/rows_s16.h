// Some rows times weights of 16-bit fixed point: the weights become floats in registers, and rows stay floats.
//
// Two weights that share 32 bits are (32 * i + j, 32 * i + 16 + j) of k, as FixedWeights::Order::strips has them. Each becomes a float of
// 2^16 times its integer by one shift or mask and a conversion. Four such steps serve two rows of k and up to 16 rows of the product.
#pragma once

#include "backends/cpu/kernels/product/gemm_f32.h"

namespace tenfold::backends::cpu {

struct RowsS16Tile {
  const float* rows = nullptr;             // [16 of k][row][16]: balanced; so one address and constants reach all of them
  std::int64_t depth = 0;                  // a multiple of 32
  const std::int16_t* weights = nullptr;   // [pair][panel][16 columns][2]
  std::int64_t pair_step = 0;              // from a pair's to the next
  const float* step = nullptr;             // of each column
};

struct RowsS16Kernels {
  static constexpr int kMostRows = 16, kMostPanels = 2;
  int panels[kMostRows] = {};   // that a call takes at most
  // A row of `k` values times `balance`, zeros behind it, of so many rows. False: its values are no ordinary numbers.
  bool (*balance)(const float* row, const float* balance, std::int64_t k, int rows, float* to) = nullptr;
  // [rows - 1][panels - 1]; of the second are read: c, c_stride, cols, epilogue
  void (*product[kMostRows][kMostPanels])(const RowsS16Tile&, const GemmF32Tile&) = {};
};
extern "C" const RowsS16Kernels tenfold_rows_s16_vnni;

}  // namespace tenfold::backends::cpu
