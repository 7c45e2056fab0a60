// Scattered updates that are combined; and the data, which is copied first.
#pragma once
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/index/scatter_common.cpp prints those of a problem
#define HOW 1                // none, add, mul, max, min
#endif

// What becomes of an element that an update falls on, in the type that both are stored in.
__device__ __forceinline__ T0 combined(T0 old, T0 more) {
#if HOW == 0
  return more;
#else
  const C0 x = LOAD0(old), y = LOAD0(more);
  // An extreme is NaN where either is.
  const C0 r = (C0)(HOW == 1 ? x + y : HOW == 2 ? x * y : HOW == 3 ? (y != y || x < y ? y : x) : (y != y || y < x ? y : x));
  return (T0)STORE0(r);
#endif
}
RULE(copy) { ((TY0*)a.out[0].p)[linear<RANK0>(a.out[0], i)] = ((const T0*)a.in[0].p)[linear<RANK0>(a.in[0], i)]; }
