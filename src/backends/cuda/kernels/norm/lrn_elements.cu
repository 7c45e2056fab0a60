// LRN, a thread for each element.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/norm/lrn_elements.cpp prints those of a problem
#define SIZE 5ll
#define ALPHA 1e-4f
#define BETA .75f
#define BIAS 1.f
#endif

RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const T0* x = (const T0*)a.in[0].p + offset<RANK0>(a.in[0], at);
  const i64 c = at[1], last = min(a.in[0].d[1] - 1, c + SIZE - 1 - (SIZE - 1) / 2);
  float squares = 0.f;
  for (i64 k = max((i64)0, c - (SIZE - 1) / 2); k <= last; ++k) {
    const float v = LOAD0(x[(k - c) * a.in[0].s[1]]);
    squares += v * v;
  }
  const float r = LOAD0(*x) * powf(BIAS + ALPHA / (float)SIZE * squares, -BETA);
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = STOREY0(r);
}
