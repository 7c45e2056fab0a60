// DepthToSpace, a thread for each element of the result.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/depth_to_space_elements.cpp prints those of a problem
#define BLOCK 2
#define OUTER true           // the block is the outer part of the channels
#endif

RULE(element) {
  i64 at[8];
  places<4>(a.out[0], i, at);
  const i64 to = offset<4>(a.out[0], at), inner = (i64)((INDEX)at[2] % BLOCK * BLOCK + (INDEX)at[3] % BLOCK);
  at[1] = OUTER ? inner * a.out[0].d[1] + at[1] : at[1] * (BLOCK * BLOCK) + inner;
  at[2] = (i64)((INDEX)at[2] / BLOCK), at[3] = (i64)((INDEX)at[3] / BLOCK);
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<4>(a.in[0], at)];
}
