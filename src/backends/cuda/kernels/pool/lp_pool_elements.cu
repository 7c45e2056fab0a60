// LpPool, a thread for each window.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/pool/lp_pool_elements.cpp prints those of a problem
#define STRIDES 1, 1
#define DILATIONS 1, 1
#define PADS 0, 0, 0, 0
#define KERNEL 2, 2
#define TAPS 4               // of a window
#define POWER 2
#endif

RULE(element) {
  const int kernel[] = {KERNEL}, strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8];
  places<RANK0>(a.out[0], i, at);
  const i64 to = offset<RANK0>(a.out[0], at);
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0] + at[1] * a.in[0].s[1];
  float sum = 0.f;
  for (int k = 0; k < TAPS; ++k) {
    i64 from = 0;
    int rest = k;
    bool there = true;
    #pragma unroll
    for (int d = RANK0 - 1; d >= 2; --d) {
      const i64 place = at[d] * strides[d - 2] - pads[d - 2] + (i64)(rest % kernel[d - 2]) * dilations[d - 2];
      there = there && place >= 0 && place < a.in[0].d[d];
      from += place * a.in[0].s[d];
      rest /= kernel[d - 2];
    }
    if (!there) continue;
    const float v = fabsf(LOAD0(x[from]));
    sum += POWER == 1 ? v : POWER == 2 ? v * v : powf(v, (float)POWER);
  }
  const float r = POWER == 1 ? sum : POWER == 2 ? sqrtf(sum) : powf(sum, 1.f / (float)POWER);
  ((TY0*)a.out[0].p)[to] = STOREY0(r);
}
