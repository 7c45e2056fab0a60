// ReverseSequence, a thread for each element. A length beyond the steps is noted, and nothing turned.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/reverse_sequence_elements.cpp prints those of a problem
#define TIME 0               // the axis of the steps
#endif

RULE(element) {
  i64 at[8];
  places<RANK0>(a.in[0], i, at);
  const i64 to = offset<RANK0>(a.out[0], at), steps = a.in[0].d[TIME];
  i64 length = 0;
  if (at[1 - TIME] < a.in[1].d[0]) length = (i64)((const T1*)a.in[1].p)[at[1 - TIME] * a.in[1].s[0]];
  if (length < 0 || length > steps || a.in[1].d[0] != a.in[0].d[1 - TIME]) *a.bad_index = 1, length = 0;
  if (at[TIME] < length) at[TIME] = length - 1 - at[TIME];
  ((TY0*)a.out[0].p)[to] = ((const T0*)a.in[0].p)[offset<RANK0>(a.in[0], at)];
}
