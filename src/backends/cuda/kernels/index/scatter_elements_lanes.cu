// ScatterElements with every reduction. The updates of one line along the axis follow each other. An index outside the data is noted and
// its update left out.
#include "backends/cuda/kernels/index/scatter.cuh"

#ifndef CONFIGURED   // tactics/index/scatter_elements_lanes.cpp prints those of a problem
#define AXIS 1
#endif

RULE(lane) {
  i64 at[8], rest = i;
  #pragma unroll
  for (int d = RANK2 - 1; d >= 0; --d) {
    const i64 extent = d == AXIS ? 1 : a.in[2].d[d];
    at[d] = rest % extent;
    rest /= extent;
  }
  const i64 index = offset<RANK2>(a.in[1], at), more = offset<RANK2>(a.in[2], at), to = offset<RANK2>(a.out[0], at);
  #pragma unroll
  for (int d = 0; d < RANK2; ++d)
    if (d != AXIS && (at[d] >= a.in[0].d[d] || at[d] >= a.in[1].d[d])) {
      *a.bad_index = 1;
      return;
    }
  for (i64 k = 0; k < a.in[2].d[AXIS]; ++k) {
    i64 place = (i64)((const T1*)a.in[1].p)[index + k * a.in[1].s[AXIS]];
    if (!inside(a, place, a.in[0].d[AXIS])) continue;
    T0* y = (T0*)a.out[0].p + to + place * a.out[0].s[AXIS];
    *y = combined(*y, ((const T0*)a.in[2].p)[more + k * a.in[2].s[AXIS]]);
  }
}
RULE(owner) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  T0 y = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
  const i64 own = at[AXIS], to = offset<RANK0>(a.out[0], at);
  bool met = true;
  #pragma unroll
  for (int d = 0; d < RANK0; ++d) met = met && (d == AXIS || at[d] < a.in[2].d[d]);
  at[AXIS] = 0;
  const i64 index = offset<RANK0>(a.in[1], at), more = offset<RANK0>(a.in[2], at);
  for (i64 k = 0; k < (met ? a.in[2].d[AXIS] : 0); ++k) {
    i64 place = (i64)((const T1*)a.in[1].p)[index + k * a.in[1].s[AXIS]];
    if (inside(a, place, a.in[0].d[AXIS]) && place == own) y = combined(y, ((const T0*)a.in[2].p)[more + k * a.in[2].s[AXIS]]);
  }
  ((TY0*)a.out[0].p)[to] = y;
}
