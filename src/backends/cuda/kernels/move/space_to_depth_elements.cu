// SpaceToDepth, a thread for each element of the result.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/space_to_depth_elements.cpp prints those of a problem
#define BLOCK 2
#endif

RULE(element) {
  i64 at[8];
  places<4>(a.out[0], i, at);
  const i64 to = offset<4>(a.out[0], at), channels = a.in[0].d[1], block = (i64)((INDEX)at[1] / (INDEX)channels);
  at[1] -= block * channels;
  at[2] = at[2] * BLOCK + block / BLOCK, at[3] = at[3] * BLOCK + block % BLOCK;
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<4>(a.in[0], at)];
}
