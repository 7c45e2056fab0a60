// TensorScatter, a thread for each element of the cache: it comes of the update or stays; or, where the cache stays in its memory, for each
// element of the update. A position that leaves no room is noted.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/index/tensor_scatter_elements.cpp prints those of a problem
#define AXIS 1
#define CIRCULAR false
#endif

// Where the update of the batch entry at[0] begins; `fits`: there is room for it.
__device__ __forceinline__ i64 start_of(const Arguments& a, const i64 (&at)[8], bool& fits) {
  const i64 extent = a.in[0].d[AXIS], steps = a.in[1].d[AXIS];
  i64 start = 0;
#if GIVEN2
  if (at[0] < a.in[2].d[0]) start = (i64)((const T2*)a.in[2].p)[at[0] * a.in[2].s[0]];
  if (a.in[2].d[0] != a.in[0].d[0]) start = -1;
#endif
  fits = start >= 0 && start < extent && steps <= (CIRCULAR ? extent : extent - start);
  if (!fits && steps > 0) *a.bad_index = 1;
  return start;
}

RULE(element) {
  i64 at[8];
  bool fits;
  places<RANK0>(a.in[0], i, at);
  const i64 to = offset<RANK0>(a.out[0], at), start = start_of(a, at, fits);
  i64 step = at[AXIS] - start;
  if (CIRCULAR && step < 0) step += a.in[0].d[AXIS];
  const T0* from = (const T0*)a.in[0].p + offset<RANK0>(a.in[0], at);
  if (fits && step >= 0 && step < a.in[1].d[AXIS]) {
    at[AXIS] = step;
    from = (const T0*)a.in[1].p + offset<RANK0>(a.in[1], at);
  }
  ((TY0*)a.out[0].p)[to] = *from;
}

RULE(update) {
  i64 at[8];
  bool fits;
  places<RANK0>(a.in[1], i, at);
  const T0* from = (const T0*)a.in[1].p + offset<RANK0>(a.in[1], at);
  at[AXIS] += start_of(a, at, fits);
  if (!fits) return;
  if (CIRCULAR && at[AXIS] >= a.in[0].d[AXIS]) at[AXIS] -= a.in[0].d[AXIS];
  ((TY0*)a.out[0].p)[offset<RANK0>(a.out[0], at)] = *from;
}
