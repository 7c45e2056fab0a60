// The product of rows of f32 values with weights of 24-bit fixed point on AMX tiles of bytes: up to 16 rows times 32 columns.
//
// Rows and weights are three bytes each: six of their nine products, by what they are worth in three sums of 32 bits. A tile of bytes takes
// 64 of k, so that they cost as much as three of bf16, but three bytes are read for each weight, not four.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

struct GemmS24Tile {
  const char* rows = nullptr;         // the first row; as many are read as enter() was told
  std::int64_t row_bytes = 0;         // from one to the next; three slices of 64 * steps bytes each, the highest first
  std::int64_t steps = 0;
  const char* panel = nullptr;        // [step][byte, the highest first][16 columns][4 of k][column][4]
  const char* ahead = nullptr;        // what is read next: so many lines of it are fetched in each step of k
  std::int64_t lines = 0;
};

// Sums that wait for their epilogue, which comes while the next ones are added up.
struct GemmS24Waiting {
  std::int32_t* sums = nullptr;       // 3 * 16 * 32
  const float* row_scale = nullptr;   // of each row: its unit, times 2^16
  const float* step = nullptr;        // of each column
  std::int64_t rows = 0;
  GemmF32Tile tile;                           // of which are read: c, c_stride, cols ...
  GemmF32EpilogueArgs epilogue;               // ... and this in place of its epilogue, if `has_epilogue`
  bool has_epilogue = false;
};

struct GemmS24Kernels {
  static constexpr int kRows = 16, kColumns = 32, kSums = 3 * kRows * kColumns;
  static constexpr std::int64_t kStepBytes = 6 * 1024;    // of a panel
  static constexpr std::int64_t kMaxDepth = 1 << 15;     // three products of bytes are less than 2^16
  void (*enter)(int rows) = nullptr;   // sets up the tile registers of this thread for so many rows ...
  void (*leave)() = nullptr;           // ... and gives them back
  // A row of `k` values times `balance`: three slices, padded with zeros. False: its values are no ordinary numbers.
  bool (*slice)(const float* row, const float* balance, std::int64_t k, char* to, float* scale) = nullptr;
  // Into `sums`, while those `before`, which may have no rows, get their epilogue.
  void (*product)(const GemmS24Tile&, std::int32_t* sums, const GemmS24Waiting& before) = nullptr;
  void (*epilogue)(const GemmS24Waiting&) = nullptr;
};
extern "C" const GemmS24Kernels tenfold_gemm_s24_amx;

}  // namespace tenfold::backends::cpu
