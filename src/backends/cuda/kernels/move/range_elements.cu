// Range, a thread for each element.
#include "backends/cuda/kernels/lib/threads.cuh"

RULE(element) {
  const C0 start = LOAD0(*(const T0*)a.in[0].p), step = LOAD0(*(const T2*)a.in[2].p);
  ((TY0*)a.out[0].p)[i * a.out[0].s[0]] = STOREY0((CY0)(start + (C0)i * step));
}
