// Softmax and norms of lines along an axis, of any length: what rows.cu has no registers for, or cannot know. A line is read twice or three
// times: for its statistics, then for its results.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/norm/lines.cpp prints those of a problem
#define KIND KIND_SOFTMAX
#define IN u16
#define OUT u16
#define SCALE u16
#define BIAS u16
#define HAS_BIAS 0
#define LOAD(r) from_f16(r)
#define STORE(r) to_f16(r)
#define LOAD_SCALE(r) from_f16(r)
#define LOAD_BIAS(r) from_f16(r)
#define EPSILON 1e-5f
#define AT(step) k * a.step  // which parameter element k reads
#endif

// As LineKind (codegen/norm/lines.h).
#define KIND_SOFTMAX 0
#define KIND_LOG_SOFTMAX 1
#define KIND_LAYER_NORM 2
#define KIND_RMS_NORM 3
#define KIND_GROUP_NORM_NHWC 4
#define KIND_HARDMAX 5
#define KIND_ABSOLUTES 6
#define KIND_SQUARES 7

#include "backends/cuda/kernels/norm/lines_args.h"

using namespace tenfold::backends::cuda;

using Arguments = LineArgumentsOf<IN, SCALE, BIAS, OUT, float>;

// Over the threads of a line; every one of them gets the result.
template <class Op, int COLUMNS, int LANES> __device__ __forceinline__ float over_lanes(float x, float* room) {
  const int t = threadIdx.x;
  room[t] = x;
  #pragma unroll
  for (int half = LANES / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half * COLUMNS) room[t] = Op::apply(room[t], room[t + half * COLUMNS]);
  }
  __syncthreads();
  const float r = room[t % COLUMNS];
  __syncthreads();
  return r;
}
#define EACH for (i64 k = lane; k < length; k += LANES)
template <int COLUMNS, int LANES> __device__ __forceinline__ void compute(const Arguments& a) {
  enter();
  __shared__ float room[COLUMNS * LANES];
  const int lane = threadIdx.x / COLUMNS;
  const i64 line = (i64)blockIdx.x * COLUMNS + threadIdx.x % COLUMNS;
  const bool there = line < a.lines;
  const i64 length = there ? a.length : 0, count = a.length, inner = a.inner;   // all threads take part in the sums
  const i64 first = line / inner * count * inner + line % inner;
  const IN* x = a.x + first;
  OUT* y = a.y + first;
#if KIND == KIND_SOFTMAX || KIND == KIND_LOG_SOFTMAX
  // Largest element and sum of exponentials in one walk: the sum is scaled again where a larger one comes.
  float most = -INFINITY_F, sum = 0.f;
  EACH {
    const float e = LOAD(x[k * inner]), larger = max_nan(most, e);
    sum = sum * (most == larger ? 1.f : __expf(most - larger)) + (e == larger && e < INFINITY_F ? 1.f : __expf(e - larger));
    most = larger;
  }
  const float all = over_lanes<Max, COLUMNS, LANES>(most, room);
  sum = over_lanes<Sum, COLUMNS, LANES>(sum * (most == all ? 1.f : __expf(most - all)), room);
  most = all;
  const float factor = 1.f / sum, logarithm = logf(sum);
  (void)factor, (void)logarithm;
#elif KIND == KIND_LAYER_NORM || KIND == KIND_GROUP_NORM_NHWC
  float sum = 0.f;
  EACH sum += LOAD(x[k * inner]);
  const float mean = over_lanes<Sum, COLUMNS, LANES>(sum, room) / (float)count;
  float squares = 0.f;
  EACH {
    const float d = LOAD(x[k * inner]) - mean;
    squares += d * d;
  }
  const float inverse = rsqrtf(over_lanes<Sum, COLUMNS, LANES>(squares, room) / (float)count + EPSILON);
#elif KIND == KIND_RMS_NORM
  float squares = 0.f;
  EACH {
    const float e = LOAD(x[k * inner]);
    squares += e * e;
  }
  const float mean = 0.f, inverse = rsqrtf(over_lanes<Sum, COLUMNS, LANES>(squares, room) / (float)count + EPSILON);
#elif KIND == KIND_HARDMAX
  // The first of the largest, or of what is NaN.
  float most = -INFINITY_F;
  EACH most = max_nan(most, LOAD(x[k * inner]));
  most = over_lanes<Max, COLUMNS, LANES>(most, room);
  float place = INFINITY_F;
  EACH {
    const float e = LOAD(x[k * inner]);
    if (e == most || (e != e && most != most)) place = fminf(place, (float)k);
  }
  place = over_lanes<Min, COLUMNS, LANES>(place, room);
#else
  float sum = 0.f;
  EACH {
    const float e = LOAD(x[k * inner]);
    sum += KIND == KIND_SQUARES ? e * e : fabsf(e);
  }
  sum = over_lanes<Sum, COLUMNS, LANES>(sum, room);
  const float norm = KIND == KIND_SQUARES ? sqrtf(sum) : sum;
#endif
  EACH {
    const float e = LOAD(x[k * inner]);
#if KIND == KIND_SOFTMAX
    const float r = __expf(e - most) * factor;
#elif KIND == KIND_LOG_SOFTMAX
    const float r = e - most - logarithm;
#elif KIND == KIND_HARDMAX
    const float r = (float)k == place ? 1.f : 0.f;
#elif KIND == KIND_ABSOLUTES || KIND == KIND_SQUARES
    const float r = norm == 0.f ? 0.f : e / norm;
#elif HAS_BIAS
    const float r = (e - mean) * inverse * LOAD_SCALE(a.scale[AT(scale_step)]) +
                    LOAD_BIAS(a.bias[AT(bias_step)]);
#else
    const float r = (e - mean) * inverse * LOAD_SCALE(a.scale[AT(scale_step)]);
#endif
    y[k * inner] = STORE(r);
  }
#if KIND == KIND_LAYER_NORM
  if (there && lane == 0 && a.mean) a.mean[line] = mean;
  if (there && lane == 0 && a.inverse) a.inverse[line] = inverse;
#endif
}
extern "C" __global__ void __launch_bounds__(512) many(const Arguments a) { compute<1, 512>(a); }
extern "C" __global__ void __launch_bounds__(128) few(const Arguments a) { compute<1, 128>(a); }
extern "C" __global__ void __launch_bounds__(512) columns(const Arguments a) { compute<32, 16>(a); }
