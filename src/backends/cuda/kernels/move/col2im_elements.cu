// Col2Im, a thread for each pixel, which sums up the columns that hold it.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/move/col2im_elements.cpp prints those of a problem
#define STRIDES 1, 1
#define DILATIONS 1, 1
#define PADS 0, 0, 0, 0
#endif

RULE(element) {
  const i64 strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  constexpr int kDims = RANKY0 - 2;
  i64 at[8], block[kDims], columns[kDims], taps = 1;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < kDims; ++d) {
    block[d] = (i64)((const T2*)a.in[2].p)[d * a.in[2].s[0]];
    taps *= block[d];
    const i64 room = a.out[0].d[d + 2] + pads[d] + pads[d + kDims] - dilations[d] * (block[d] - 1) - 1;
    columns[d] = room < 0 ? 0 : room / strides[d] + 1;
  }
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0];
  float sum = 0.f;
  for (i64 k = 0; k < taps; ++k) {
    i64 rest = k, column = 0, step = 1;
    bool there = true;
    #pragma unroll
    for (int d = kDims - 1; d >= 0; --d) {
      const i64 from = at[d + 2] + pads[d] - rest % block[d] * dilations[d], place = from / strides[d];
      there = there && from >= 0 && from % strides[d] == 0 && place < columns[d];
      column += place * step;
      step *= columns[d];
      rest /= block[d];
    }
    if (there && column < a.in[0].d[2]) sum += LOAD0(x[(at[1] * taps + k) * a.in[0].s[1] + column * a.in[0].s[2]]);
  }
  ((TY0*)a.out[0].p)[offset<RANKY0>(a.out[0], at)] = STOREY0(sum);
}
