// What the kernels attention_mma.cu, _stream, _whole and _simple are given.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// `group`: heads of queries that share a head of keys. Strides in elements: batch, head, row; of the mask also the key. Packed: `batches`
// sentences, of `longest` rows at most, begin at `offsets`, and `queries` is all rows; the grid has one batch more.
// Typed for the kernel: from casts of void* NVRTC makes other code. The tactic has it of void.
template <class Element, class Mask, class Result> struct AttentionArgumentsOf {
  const Element *q, *k, *v;
  const Mask* mask;
  Result* y;
  i64 queries, keys, group, heads, batches, q_stride[3], k_stride[3], v_stride[3], y_stride[3], mask_stride[4];
  const int* offsets;
  i64 longest;
  unsigned* bad_index;   // becomes 1 if offsets are no such
};
using AttentionArguments = AttentionArgumentsOf<void, void, void>;
static_assert(sizeof(AttentionArguments) == 232 && TENFOLD_OFFSET(AttentionArguments, queries) == 40 &&
              TENFOLD_OFFSET(AttentionArguments, q_stride) == 80 && TENFOLD_OFFSET(AttentionArguments, mask_stride) == 176 &&
              TENFOLD_OFFSET(AttentionArguments, offsets) == 208);

}  // namespace tenfold::backends::cuda
