// What the kernels of gemm_tiled.cu are given. Grid: tiles of columns, then of rows, then of batches, all along x.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

constexpr int kTiledAxes = 8;               // of a batch
constexpr int kTiledEpilogueOperands = 8;   // operands of the epilogue

// Where an operand lies: elements from one row of the result to the next, from one column to the next, and along each axis of the batch.
// The first operand has terms of the sum for columns, the second one has them for rows.
struct TiledPlace {
  i64 down, across, batch[kTiledAxes];
};
struct TiledArguments {
  const void *a, *b;
  void* y;
  const void* epilogue[kTiledEpilogueOperands];
  int m, n, k, axes;
  int a_along, b_along;   // singles: whether neighboring threads read terms that follow each other, or neighboring rows or columns
  i64 extent[kTiledAxes];
  TiledPlace at_a, at_b, at_y, at_epilogue[kTiledEpilogueOperands];
};
static_assert(sizeof(TiledPlace) == 80 && sizeof(TiledArguments) == 1056 && TENFOLD_OFFSET(TiledArguments, m) == 88 &&
              TENFOLD_OFFSET(TiledArguments, extent) == 112 && TENFOLD_OFFSET(TiledArguments, at_a) == 176);

}  // namespace tenfold::backends::cuda
