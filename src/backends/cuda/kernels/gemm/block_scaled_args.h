// What the kernels of block_scaled_*.cu are given, and where a packed weight lies: for the host, which packs, and for the kernels.
//
// A tile is 16 columns by 64 rows of 4 bits, or 32 rows of 8 bits: 512 bytes, 16 for each lane of a warp, in steps of 16 rows. Of a step
// lane 4 * g + t has columns g and g + 8 and rows 4 * t to 4 * t + 3: what it holds of operand A of m16n8k16, where the product's columns
// are A's rows. In A's order of k a lane has 2t, 2t + 1, 2t + 8 and 2t + 9; the order of a sum is free, as long as both operands have it.
//   words      tiles of a panel of 16 columns one behind the other along k, panel by panel; what is outside the matrix is 0
//   scales     f32, for each panel and block of rows 16: columns 0, 8, 1, 9, 2, 10, .. 7, 15
//   zeros      the same in bytes
// Signed values and zero points have half of their range added.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

#ifdef __CUDACC__
#define TENFOLD_BOTH __device__ __forceinline__
#else
#define TENFOLD_BOTH inline
#endif

namespace tenfold::backends::cuda {

struct BlockScaledArguments {
  const void *x, *words, *scales, *zeros;   // zeros: or nothing
  void* y;
  const void* epilogue[8];   // the epilogue's operands
  i64 m;
  const void* norm;          // the scale of the norm that rows are given, or nothing
};
static_assert(sizeof(BlockScaledArguments) == 120 && TENFOLD_OFFSET(BlockScaledArguments, epilogue) == 40 &&
              TENFOLD_OFFSET(BlockScaledArguments, m) == 104);

struct BlockScaledPlace {
  int word, shift;   // of a tile's 128 words, and bits
};
// Of row k and column n of a tile. The two rows that A has in one register lie 16 bits apart (4 bits), or side by side (8 bits).
TENFOLD_BOTH BlockScaledPlace block_scaled_place(int bits, int n, int k) {
  const int step = k / 16, t = k % 16 / 4, second = k % 4 / 2, odd = k % 2, g = n % 8, lower = n / 8;
  const int lane = 4 * g + t, word = bits == 4 ? step : 2 * step + second;
  const int shift = bits == 4 ? 4 * (lower + 2 * second) + 16 * odd : 16 * lower + 8 * odd;
  return {4 * lane + word, shift};
}
// Where a column's scale and zero point lie among the 16 of its panel and block.
TENFOLD_BOTH int block_scaled_column(int n) { return n % 8 * 2 + n / 8; }

}  // namespace tenfold::backends::cuda
