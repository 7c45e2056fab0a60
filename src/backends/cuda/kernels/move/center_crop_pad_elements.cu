// CenterCropPad, a thread for each element of the result.
#include "backends/cuda/kernels/lib/threads.cuh"

RULE(element) {
  i64 at[8];
  places<RANKY0>(a.out[0], i, at);
  const i64 to = offset<RANKY0>(a.out[0], at);
  bool there = true;
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) {
    const i64 x = a.in[0].d[d], y = a.out[0].d[d];
    at[d] += max((i64)0, x - y) / 2 - max((i64)0, y - x) / 2;
    there = there && at[d] >= 0 && at[d] < x;
  }
  ((TY0*)a.out[0].p)[to] = there ? ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)] : (T0)0;
}
