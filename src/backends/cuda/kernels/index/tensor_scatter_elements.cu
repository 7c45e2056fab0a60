// TensorScatter, a thread for each element of the cache: it comes of the update or stays. A position that leaves no room is noted.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/index/tensor_scatter_elements.cpp prints those of a problem
#define AXIS 1
#define CIRCULAR false
#endif

RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 to = offset<RANK0>(a.out[0], at), extent = a.in[0].d[AXIS], steps = a.in[1].d[AXIS];
  i64 start = 0;
#if GIVEN2
  if (at[0] < a.in[2].d[0]) start = (i64)((const T2*)a.in[2].p)[at[0] * a.in[2].s[0]];
  if (a.in[2].d[0] != a.in[0].d[0]) start = -1;
#endif
  const bool fits = start >= 0 && start < extent && steps <= (CIRCULAR ? extent : extent - start);
  if (!fits && steps > 0) *a.bad_index = 1;
  i64 step = at[AXIS] - start;
  if (CIRCULAR && step < 0) step += extent;
  const T0* from = (const T0*)a.in[0].p + offset<RANK0>(a.in[0], at);
  if (fits && step >= 0 && step < steps) {
    at[AXIS] = step;
    from = (const T0*)a.in[1].p + offset<RANK0>(a.in[1], at);
  }
  ((TY0*)a.out[0].p)[to] = *from;
}
