// Which rows a block of an attention kernel computes: of its batch, or of its sentence where these are packed.
#pragma once
#include "backends/cuda/kernels/attention/attention_args.h"

using namespace tenfold::backends::cuda;

using Arguments = AttentionArgumentsOf<T, MASK, RESULT>;

// The rows of a block's sentence, or of its batch.
struct Rows { i64 begin; int queries, keys; };
#if PACKED
// Offsets that do not rise from 0 to the rows there are, by no more than the longest sentence, fail the run; their sentence is empty.
__device__ __forceinline__ Rows rows_of(const Arguments& a, i64 batch) {
  const i64 begin = a.offsets[batch], rows = a.offsets[batch + 1] - begin;
  const bool good = (batch > 0 || begin == 0) && begin >= 0 && rows >= 0 && rows <= a.longest && begin + rows <= a.queries;
  if (good) return {begin, (int)rows, (int)rows};
  if (threadIdx.x == 0) *a.bad_index = 1;
  return {0, 0, 0};
}
// Zeros behind the last sentence, by the blocks of the batch after the last; true if this is one.
__device__ __forceinline__ bool clears_rest(const Arguments& a) {
  if (blockIdx.z != a.batches) return false;
  for (i64 row = max((i64)a.offsets[a.batches], (i64)0) + blockIdx.x; row < a.queries; row += gridDim.x)
    for (int d = threadIdx.x; d < REAL_VALUE; d += blockDim.x)
      a.y[blockIdx.y * a.y_stride[1] + row * a.y_stride[2] + d] = (RESULT)0;
  return true;
}
#else
__device__ __forceinline__ Rows rows_of(const Arguments& a, i64) { return {0, (int)a.queries, (int)a.keys}; }
__device__ __forceinline__ bool clears_rest(const Arguments&) { return false; }
#endif
