// OneHot, a thread for each element of the result, which compares its place with the index.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/index/one_hot_elements.cpp prints those of a problem
#define AXIS 1
#endif

RULE(element) {
  i64 at[8], of_index = 0;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) of_index += at[d < AXIS ? d : d + 1] * a.in[0].s[d];
  i64 index = (i64)LOAD0(((const T0*)a.in[0].p)[of_index]);
  if (index < 0) index += a.out[0].d[AXIS];
  const T2* values = (const T2*)a.in[2].p;
  ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = values[index == at[AXIS] ? a.in[2].s[0] : 0];
}
