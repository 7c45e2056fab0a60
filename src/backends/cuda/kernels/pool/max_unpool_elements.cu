// MaxUnpool: zeros, then a thread for each element that is put back. An index outside the pooled image is noted.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/pool/max_unpool_elements.cpp prints those of a problem
#define STRIDES 1, 1
#define PADS 0, 0, 0, 0
#define KERNEL 2, 2
#endif

RULE(clear) { ((TY0*)a.out[0].p)[linear<RANKY0>(a.out[0], i)] = (TY0)0; }
RULE(put) {
  // The extents that indices count in: what the pooling read at least.
  const i64 kernel[] = {KERNEL}, strides[] = {STRIDES}, pads[] = {PADS};
  i64 at[8], to = 0;
  places<RANK0>(a.in[0], i, at);
  i64 rest = (i64)((const T1*)a.in[1].p)[offset<RANK0>(a.in[1], at)];
  bool there = rest >= 0;
  #pragma unroll
  for (int d = RANK0 - 1; d >= 0; --d) {
    i64 extent = a.in[0].d[d];
    if (d >= 2) extent = (extent - 1) * strides[d - 2] + kernel[d - 2] - pads[d - 2] - pads[d - 2 + RANK0 - 2];
    extent = max(extent, (i64)1);
    const i64 place = rest % extent;
    there = there && place < a.out[0].d[d];
    to += place * a.out[0].s[d];
    rest /= extent;
  }
  if (!there || rest > 0) *a.bad_index = 1;
  else ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
}
