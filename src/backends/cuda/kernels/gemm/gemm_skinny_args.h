// What the kernel of gemm_skinny.cu is given. Grid: tiles of columns, tiles of rows, split.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"
#include "backends/cuda/kernels/lib/tensor_map.h"

namespace tenfold::backends::cuda {

struct SkinnyArguments {
  TensorMap a, b;
  void* y;
  const void* epilogue[8];   // the epilogue's operands
  i64 m;
  void *inverse, *offset;    // NORM: floats, one for each row
};
static_assert(sizeof(SkinnyArguments) == 384 && TENFOLD_OFFSET(SkinnyArguments, y) == 256 && TENFOLD_OFFSET(SkinnyArguments, m) == 328 &&
              TENFOLD_OFFSET(SkinnyArguments, offset) == 344);

}  // namespace tenfold::backends::cuda
