// Matrix products of any float type without tensor cores: a thread sums up a tile of results in registers, its block's rows and columns
// come through shared memory, and extents and strides are given by the run, so that operands may be transposed, broadcast or strided.
#pragma once

#include <string>
#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

inline constexpr int kTiledAxes = 8;   // of a batch
inline constexpr int kTiledTail = 8;   // operands of the epilogue

// Where an operand lies: elements from one row of the result to the next, from one column to the next, and along each axis of the batch.
// The first operand has terms of the sum for columns, the second one has them for rows.
struct TiledPlace {
  std::int64_t down, across, batch[kTiledAxes];
};
// What the kernels are given. Grid: tiles of columns, then of rows, then of batches, all along x.
struct TiledArguments {
  const void *a, *b;
  void* y;
  const void* tail[kTiledTail];
  int m, n, k, axes;
  int a_along, b_along;   // singles: whether neighbouring threads read terms that follow each other, or neighbouring rows or columns
  std::int64_t extent[kTiledAxes];
  TiledPlace at_a, at_b, at_y, at_tail[kTiledTail];
};

struct TiledTile {
  int rows = 128, columns = 128;   // of a block
  int warps_down = 4, warps_across = 2;
  int threads() const { return 32 * warps_down * warps_across; }
};
struct TiledProblem {
  DType in = DType::f32, out = DType::f32;
  const ir::Body* body = nullptr;   // null: the sum itself
  std::vector<DType> tail;          // feed body inputs 1, 2, ...
  bool vectors = true, singles = true;      // kernels that are wanted: both operands 16 bytes at once, or element by element
  bool a_along = true, b_along = false;     // vectors: whether they lie along the terms of the sum, or along rows or columns
};
std::string generate_gemm_tiled(const TiledProblem& p, const TiledTile& tile);

}  // namespace tenfold::backends::cuda
