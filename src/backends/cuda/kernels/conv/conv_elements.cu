// Convolutions, a thread for each element of the result. Weights are [filters, channels], or, transposed, [channels, filters]: of each
// group, where it is the second. A transposed convolution looks for what reaches the element.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/conv/conv_elements.cpp prints those of a problem
#define STRIDES 1, 1
#define DILATIONS 1, 1
#define PADS 0, 0, 0, 0
#define GROUP 1
#define ZEROS 0              // operands 2 and 3 are zero points, not a bias
#define TRANSPOSED 0
#define SUM float            // what is added up in
#endif

RULE(element) {
  const int strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8], taps = 1;
  places<RANKY0>(a.out[0], i, at);
  const i64 depth = TRANSPOSED ? a.in[1].d[0] / GROUP : a.in[1].d[1], filters = TRANSPOSED ? a.in[1].d[1] : a.in[1].d[0] / GROUP;
  const i64 first = at[1] / filters * depth, step = a.in[1].s[!TRANSPOSED];
  const T0* x = (const T0*)a.in[0].p + at[0] * a.in[0].s[0] + first * a.in[0].s[1];
  const T1* w = (const T1*)a.in[1].p + (TRANSPOSED ? first * step + at[1] % filters * a.in[1].s[1] : at[1] * a.in[1].s[0]);
  SUM sum = 0, x_zero = 0, w_zero = 0;
#if ZEROS && OWN2
  x_zero = (SUM)*(const T2*)a.in[2].p;
#endif
#if ZEROS && OWN3
  w_zero = (SUM)((const T3*)a.in[3].p)[RANK3 > 0 && a.in[3].d[0] > 1 ? at[1] * a.in[3].s[0] : 0];
#endif
  #pragma unroll
  for (int d = 2; d < RANK1; ++d) taps *= a.in[1].d[d];
  for (i64 t = 0; t < taps; ++t) {
    i64 rest = t, from = 0, of_tap = 0;
    bool there = true;
    #pragma unroll
    for (int d = RANK1 - 1; d >= 2; --d) {
      const i64 tap = rest % a.in[1].d[d], reach = tap * dilations[d - 2];
#if TRANSPOSED
      const i64 place = at[d] + pads[d - 2] - reach, source = place / strides[d - 2];
      there = there && place >= 0 && place % strides[d - 2] == 0 && source < a.in[0].d[d];
#else
      const i64 source = at[d] * strides[d - 2] - pads[d - 2] + reach;
      there = there && source >= 0 && source < a.in[0].d[d];
#endif
      from += source * a.in[0].s[d], of_tap += tap * a.in[1].s[d];
      rest /= a.in[1].d[d];
    }
    if (!there) continue;
    for (i64 c = 0; c < depth; ++c)
      sum += ((SUM)LOAD0(x[from + c * a.in[0].s[1]]) - x_zero) * ((SUM)LOAD1(w[of_tap + c * step]) - w_zero);
  }
#if !ZEROS && OWN2
  sum += (SUM)LOAD2(((const T2*)a.in[2].p)[at[1] * a.in[2].s[0]]);
#endif
  finish(a, at, sum);
}
