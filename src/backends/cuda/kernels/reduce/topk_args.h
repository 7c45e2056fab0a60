// What the kernels of topk_warps.cu and topk_blocks.cu are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

struct TopkWarpsArguments {
  const void* x;
  void* values;
  i64* indices;
  i64 rows, n, k;
};
struct TopkBlocksArguments {
  const void* x;
  void* values;
  i64* indices;
  i64 n, k, inner;
};
static_assert(sizeof(TopkWarpsArguments) == 48 && sizeof(TopkBlocksArguments) == 48);

}  // namespace tenfold::backends::cuda
