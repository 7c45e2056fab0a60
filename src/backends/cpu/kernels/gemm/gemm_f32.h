// Micro-kernels of the f32 matrix product: a few rows of A times one panel of B, the sums kept in registers.
//
// Rows of A are given as pointers, so that a matrix, the pixels of an image and the windows of a convolution (one pointer for
// each kernel tap, a row of zeros for padding) are the same to a kernel. Elements of A are broadcast where they lie.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

// What follows the last block of K, while the sums are in registers: (sum + bias + residual) clamped to [low, high].
struct GemmF32EpilogueArgs {
  const float* bias = nullptr;      // of the tile's first column; null: none
  const float* residual = nullptr;  // of the tile's first row and column; null: none
  std::int64_t residual_stride = 0;
  bool clamp = false;  // NaN stays NaN
  float low = 0, high = 0;
};

struct GemmF32Tile {
  const float* const* rows = nullptr;  // rows[tap * max_rows + r]; null for r = 0: the tap adds nothing to any row
  std::int64_t offset = 0;             // elements added to every pointer
  std::int64_t taps = 1, k = 0;        // depth: k neighboring elements for each tap
  const float* panel = nullptr;        // [taps * k][panel], zeros in columns that do not exist
  std::int64_t panel_step = 0;         // to the next panel, for kernels that take several
  float* c = nullptr;
  std::int64_t c_stride = 0;
  std::int64_t cols = 0;                          // columns that exist
  bool fetch = false;                             // C and the residual are far: ask for their lines before the sums are made
  bool accumulate = false;                        // C holds the sums of earlier blocks of K
  const float* addend = nullptr;                  // [rows][panel], added to the sums; null: none
  float* also = nullptr;                          // [rows][panel], the bare sums are added to it as well; null: nowhere
  const float* minus = nullptr;                   // of difference(): B is `panel` less this panel,
  float* made = nullptr;                          //   and is stored here for other tiles
  const GemmF32EpilogueArgs* epilogue = nullptr;  // null: store the sums
  const void* soon = nullptr;                     // weights of tiles to come: `soon_lines` cache lines of them are asked for every
  int soon_lines = 0;                             //   kSoonSteps steps of k, so that memory works while this tile computes
};
inline constexpr int kSoonSteps = 16;

using GemmF32Function = void (*)(const GemmF32Tile&);
inline constexpr int kGemmMaxRows = 14, kGemmWideRows = 3;

struct GemmF32Kernels {
  int max_rows = 0, panel = 0;               // rows of the largest tile, columns of a panel
  GemmF32Function tile[kGemmMaxRows] = {};  // [rows - 1]: one panel
  GemmF32Function difference[kGemmMaxRows] = {};  // [rows - 1]: one panel, B a difference that is made on the way
  int wide_panels[kGemmWideRows] = {};       // [rows - 1]: few rows take several panels at once, to have sums enough in
  GemmF32Function wide[kGemmWideRows] = {};  //   flight; all but the last column range of C must exist
  // [rows - 1]: that many tiles of rows, which follow each other in the table and in C, times any number of panels, which had better
  // be in L1; null: no such form.
  void (*many[kGemmMaxRows])(const GemmF32Tile&, std::int64_t tiles) = {};
  int lanes = 1;  // steps of K that lie together for each column: panel is [taps][k / lanes, rounded up][panel][lanes]
};

extern "C" const GemmF32Kernels tenfold_gemm_f32_avx2, tenfold_gemm_f32_avx512;
extern "C" const GemmF32Kernels tenfold_gemm_f32_broad_avx512, tenfold_gemm_f32_quad_avx512;   // panels of three vectors, of four
extern "C" const GemmF32Kernels tenfold_gemm_f32_pairs_avx512, tenfold_gemm_f32_fours_avx512;  // panels of 32 columns, of 16
extern "C" const GemmF32Kernels tenfold_dot_f32_avx2, tenfold_dot_f32_avx512;  // for very few columns

}  // namespace tenfold::backends::cpu
