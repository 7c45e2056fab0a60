// Tile, a thread for each element of the result.
#include "backends/cuda/kernels/lib/threads.cuh"

RULE(element) {
  i64 at[8];
  places<RANKY0>(a.out[0], i, at);
  const i64 to = offset<RANKY0>(a.out[0], at);
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) at[d] = (i64)((INDEX)at[d] % (INDEX)a.in[0].d[d]);
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
}
