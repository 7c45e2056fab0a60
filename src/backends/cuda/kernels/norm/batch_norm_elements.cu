// BatchNormalization with stored statistics, a thread for each element.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/norm/batch_norm_elements.cpp prints those of a problem
#define EPSILON 1e-5f
#endif

RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 c = RANK0 > 1 ? at[1] : 0;
  const float x = LOAD0(((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)]);
  const float scale = LOAD1(((const T1*)a.in[1].p)[c * a.in[1].s[0]]), bias = LOAD2(((const T2*)a.in[2].p)[c * a.in[2].s[0]]);
  const float mean = LOAD3(((const T3*)a.in[3].p)[c * a.in[3].s[0]]), variance = LOAD4(((const T4*)a.in[4].p)[c * a.in[4].s[0]]);
  const float r = (x - mean) * (scale / sqrtf(variance + EPSILON)) + bias;
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = STOREY0(r);
}
