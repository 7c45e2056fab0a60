// What the kernel of attention_wgmma.cu is given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"
#include "backends/cuda/kernels/lib/tensor_map.h"

namespace tenfold::backends::cuda {

// Boxes: attention_chunk() columns, and of rows a tile's queries or a step's keys. Strides in elements: batch, head, row; of the mask also
// the key. `group`: heads of queries that share a head of keys.
struct AttentionWgmmaArguments {
  TensorMap q, k, v;
  const void* mask;
  void* y;
  i64 mask_stride[4], y_stride[3];
  int queries, keys, heads, group, batches;
};
static_assert(sizeof(AttentionWgmmaArguments) == 512 && TENFOLD_OFFSET(AttentionWgmmaArguments, mask) == 384 &&
              TENFOLD_OFFSET(AttentionWgmmaArguments, mask_stride) == 400 &&
              TENFOLD_OFFSET(AttentionWgmmaArguments, queries) == 456);

}  // namespace tenfold::backends::cuda
