// Micro-kernels of the f32 depthwise convolution: a few positions times all channels of a block, vectors along the channels.
//
// Every column has its own depth of `taps`; of a tile `k` is not used, `panel` holds [panel][tap][panel column], and `cols` may be
// many panels. In a line of results positions lie one step apart, so that one pointer for each line of the kernel will do.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_f32.h"

namespace tenfold::backends::cpu {

// rows[line] of the tile: position 0, the first result's first tap, in that line of the kernel. Of all positions that the tile
// reads only the first and last (kernel width - 1) may lie outside of [first, last).
struct DepthwiseF32Lines {
  const std::int64_t* steps = nullptr;  // of a line: elements to the next position, 0 where the line itself is zeros
  std::int64_t first = 0, last = 0;     // positions that exist
  const float* zeros = nullptr;         // stands for those that do not
};
using DepthwiseF32Line = void (*)(const GemmF32Tile&, const DepthwiseF32Lines&);
inline constexpr int kDepthwiseLine = 8;  // most results of a tile in a line

// Results of one line whose windows have the same taps: no pointer for each tap, and taps in the padding take no time.
struct DepthwiseF32Strip {
  const float* const* lines = nullptr;    // of the kernel, those that exist: the first result's first tap in each
  const std::int64_t* first = nullptr;    // number of that tap
  std::int64_t count = 0, taps = 0;       // lines; taps of each
  std::int64_t tap_step = 0, step = 0;    // elements to the next tap, to the next result's window
};
using DepthwiseF32StripFunction = void (*)(const GemmF32Tile&, const DepthwiseF32Strip&);

struct DepthwiseF32Kernels {
  int max_rows = 0, panel = 0;                   // rows of a table as for products
  // [rows - 1]: any windows, by pointers; that many tiles, which follow each other in the table and in C
  void (*tile[kGemmMaxRows])(const GemmF32Tile&, std::int64_t tiles) = {};
  DepthwiseF32StripFunction strip[kGemmMaxRows] = {};  // [results - 1], at most max_rows
  DepthwiseF32Line line[2][2][kDepthwiseLine] = {};  // [3 or 5 wide][stride 1 or 2][results - 1]
};
extern "C" const DepthwiseF32Kernels tenfold_depthwise_f32_avx2, tenfold_depthwise_f32_avx512;

}  // namespace tenfold::backends::cpu
