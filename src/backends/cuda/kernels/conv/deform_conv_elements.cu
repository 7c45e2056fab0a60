// DeformConv, a thread for each element of the result.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/conv/deform_conv_elements.cpp prints those of a problem
#define STRIDES 1, 1
#define DILATIONS 1, 1
#define PADS 0, 0, 0, 0
#define GROUP 1
#define OFFSET_GROUP 1
#endif

__device__ __forceinline__ float sample(const Arguments& a, i64 image, float row, float column) {
  const float top = floorf(row), left = floorf(column);
  if (!(row > -1.f && column > -1.f && row < (float)a.in[0].d[2] && column < (float)a.in[0].d[3])) return 0.f;
  float sum = 0.f;
  #pragma unroll
  for (int corner = 0; corner < 4; ++corner) {
    const i64 r = (i64)top + corner / 2, c = (i64)left + corner % 2;
    if (r < 0 || r >= a.in[0].d[2] || c < 0 || c >= a.in[0].d[3]) continue;
    const float weight = (1.f - fabsf(row - (float)r)) * (1.f - fabsf(column - (float)c));
    sum += weight * LOAD0(((const T0*)a.in[0].p)[image + r * a.in[0].s[2] + c * a.in[0].s[3]]);
  }
  return sum;
}
RULE(element) {
  const i64 strides[] = {STRIDES}, dilations[] = {DILATIONS}, pads[] = {PADS};
  i64 at[8];
  places<4>(a.out[0], i, at);
  const i64 n = at[0], m = at[1], y = at[2], x = at[3], depth = a.in[1].d[1], rows = a.in[1].d[2], columns = a.in[1].d[3];
  const i64 per_group = a.in[1].d[0] / GROUP, per_offset = a.in[0].d[1] / OFFSET_GROUP, taps = rows * columns;
  float sum = 0.f;
#if GIVEN3
  sum = LOAD3(((const T3*)a.in[3].p)[m * a.in[3].s[0]]);
#endif
  for (i64 d = 0; d < depth; ++d) {
    const i64 channel = m / per_group * depth + d, first = channel / per_offset * taps, image = n * a.in[0].s[0] + channel * a.in[0].s[1];
    for (i64 t = 0; t < taps; ++t) {
      const i64 row = t / columns, column = t % columns;
      const T2* moved = (const T2*)a.in[2].p + n * a.in[2].s[0] + (first + t) * 2 * a.in[2].s[1] + y * a.in[2].s[2] + x * a.in[2].s[3];
      const float r = (float)(y * strides[0] + row * dilations[0] - pads[0]) + LOAD2(moved[0]);
      const float c = (float)(x * strides[1] + column * dilations[1] - pads[1]) + LOAD2(moved[a.in[2].s[1]]);
      float scale = LOAD1(((const T1*)a.in[1].p)[m * a.in[1].s[0] + d * a.in[1].s[1] + row * a.in[1].s[2] + column * a.in[1].s[3]]);
#if GIVEN4
      scale *= LOAD4(((const T4*)a.in[4].p)[n * a.in[4].s[0] + (first + t) * a.in[4].s[1] + y * a.in[4].s[2] + x * a.in[4].s[3]]);
#endif
      sum += scale * sample(a, image, r, c);
    }
  }
  ((TY0*)a.out[0].p)[offset<4>(a.out[0], at)] = STOREY0(sum);
}
