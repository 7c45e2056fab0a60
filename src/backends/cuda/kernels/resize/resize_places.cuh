// Which elements of the source a position of the result mixes. Rounded after every operation, as the reference does: which they are
// depends on it.
#pragma once

__device__ __forceinline__ float coordinate(float x, float scale, float in, int out) {
  if (TRANSFORM == 1 && out <= 1) return 0.f;
  const float wide = __fmul_rn(scale, in);   // the extent before it was rounded down
  if (TRANSFORM == 2) return wide == 1.f ? 0.f : __fdiv_rn(__fmul_rn(x, __fsub_rn(in, 1.f)), __fsub_rn(wide, 1.f));
  if (TRANSFORM == 3) return __fdiv_rn(x, scale);
  const float middle = __fdiv_rn(__fadd_rn(x, .5f), scale);
  if (TRANSFORM == 4) return middle;
  if (TRANSFORM == 5)
    return __fsub_rn(__fadd_rn(__fmul_rn(__fdiv_rn(in, 2.f), __fsub_rn(1.f, __fdiv_rn((float)out, wide))), middle), .5f);
  return __fsub_rn(middle, .5f);
}
// The same under a scale that is out / in, as far as a float tells: one quotient of whole numbers, which ops/resize/resize_common.h has
// for the nearest element, too.
__device__ __forceinline__ double ratio_coordinate(int x, int in, int out) {
  if (TRANSFORM == 2 || (TRANSFORM == 1 && out <= 1)) return out > 1 ? __ddiv_rn((double)x * (in - 1), out - 1.) : 0.;
  const double middle = TRANSFORM == 3 ? 2. * x * in : (2. * x + 1.) * in;
  return __ddiv_rn(TRANSFORM == 3 || TRANSFORM == 4 ? middle : middle - out, 2. * out);
}
// What one position of the result mixes: elements from `first` on, which may lie outside. Elements of weight 0 count for nothing, whatever
// they are.
struct Place { int first; float weight[TAPS]; };
__device__ __forceinline__ float cubic(float d) {
  return d <= 1.f ? ((CUBIC + 2.f) * d - (CUBIC + 3.f)) * d * d + 1.f : ((CUBIC * d - 5.f * CUBIC) * d + 8.f * CUBIC) * d - 4.f * CUBIC;
}
__device__ __forceinline__ Place place(const Arguments& a, int d, int position) {
  float x = (float)position;
  double nearest = position;
  if (d >= 3 - AXES) {
    const float scale = SIZES ? a.scale[d] : a.scales[d - (3 - AXES)];
    if (a.in[d] != a.out[d] || scale != 1.f) {
      x = coordinate(x, scale, (float)a.in[d], a.out[d]);
      if (TAPS == 1) nearest = scale == a.scale[d] ? ratio_coordinate(position, a.in[d], a.out[d]) : (double)x;
    }
  }
  constexpr float kBeyond = TAPS == 4 ? 2.f : 1.f;   // further out nothing changes
  x = fminf(fmaxf(x, -kBeyond), (float)a.in[d] - 1.f + kBeyond);
  Place p;
  if (TAPS == 1) {
    nearest = fmin(fmax(nearest, -1.), (double)a.in[d]);
    p.first = (int)(NEAREST == 0 ? floor(nearest) : NEAREST == 1 ? ceil(nearest) : NEAREST == 2 ? floor(nearest + .5) : ceil(nearest - .5));
    p.weight[0] = 1.f;
    return p;
  }
  const float low = floorf(x), part = x - low;
  p.first = (int)low - (TAPS / 2 - 1);
  if (TAPS == 2) p.weight[0] = 1.f - part, p.weight[TAPS - 1] = part;
  if (TAPS < 4) return p;
  float sum = 0.f;
  #pragma unroll
  for (int t = 0; t < TAPS; ++t) {
    p.weight[t] = EXCLUDES && (p.first + t < 0 || p.first + t >= a.in[d]) ? 0.f : cubic(fabsf(part + 1.f - (float)t));
    sum += p.weight[t];
  }
  #pragma unroll
  for (int t = 0; t < TAPS && EXCLUDES; ++t) p.weight[t] /= sum;
  return p;
}
__device__ __forceinline__ int within(int i, int extent) { return max(0, min(extent - 1, i)); }
