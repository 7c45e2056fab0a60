// What the kernels of gemm_wgmma.cu and gemm_wgmma_norm.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"
#include "backends/cuda/kernels/lib/tensor_map.h"

namespace tenfold::backends::cuda {

// Boxes: a and b 128 bytes deep and a tile high; y, r (added) and s (the sum before a norm) a strip wide and a warpgroup high.
struct WgmmaArguments {
  TensorMap a, b, y, r, s;
  const void* epilogue[8];   // the epilogue's operands
  i64 m;
  void* parts;   // with moments: of the results in each tile's columns, sum and sum of squares of each row (float2)
};
static_assert(sizeof(WgmmaArguments) == 768 && TENFOLD_OFFSET(WgmmaArguments, epilogue) == 640 &&
              TENFOLD_OFFSET(WgmmaArguments, m) == 704 && TENFOLD_OFFSET(WgmmaArguments, parts) == 712);

}  // namespace tenfold::backends::cuda
