// Pooling windows: a thread for each result, or for V neighboring channels of it.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/pool/pool.cpp prints those of a problem
#define T u16
#define V 1
#define THREADS 128
#define CHANNELS_INNER 0
#define K0 2
#define K1 2
#define K2 2
#define S0 2
#define S1 2
#define S2 2
#define D0 1
#define D1 1
#define D2 1
#define B0 0
#define B1 0
#define B2 0
#define E0 0
#define E1 0
#define E2 0
#define OUT0 8
#define OUT1 8
#define OUT2 8
#define INDEX u32            // results can be counted in it
#define CHANNELS 64
#define COUNT_PADS 0
#define LOAD(e) from_f16(e)
#define STORE(f) to_f16(f)
#define START -INFINITY_F
#define JOIN(a, b) max_nan(a, b)
#define FINISH r[v]
#endif

#include "backends/cuda/kernels/pool/pool_args.h"

using namespace tenfold::backends::cuda;

// The first tap that lies inside, and one past the last, of the window that starts at `start`.
template <int TAPS, int STEP> __device__ __forceinline__ void inside(int start, int extent, int& first, int& last) {
  first = start < 0 ? (-start + STEP - 1) / STEP : 0;
  last = start >= extent ? 0 : min(TAPS, (extent - start + STEP - 1) / STEP);
}
template <int TAPS, int STEP> __device__ __forceinline__ int padded(int start, int end) {
  return max(0, min(TAPS, (end - start + STEP - 1) / STEP));
}
extern "C" __global__ void __launch_bounds__(THREADS) pool(PoolArguments a) {
  enter();
  INDEX i = (INDEX)blockIdx.x * THREADS + threadIdx.x;
  const INDEX groups = (INDEX)(CHANNELS) / V, extents[3] = {(INDEX)OUT0, (INDEX)OUT1, (INDEX)OUT2};
  u32 g, n, o[3];
  if (i >= a.batch * groups * extents[0] * extents[1] * extents[2]) return;
#if CHANNELS_INNER
  g = (u32)(i % groups); i /= groups;
  #pragma unroll
  for (int d = 2; d >= 0; --d) { o[d] = (u32)(i % extents[d]); i /= extents[d]; }
  n = (u32)i;
#else
  #pragma unroll
  for (int d = 2; d >= 0; --d) { o[d] = (u32)(i % extents[d]); i /= extents[d]; }
  g = (u32)(i % groups); n = (u32)(i / groups);
#endif
  int start[3], first[3], last[3];
  start[0] = (int)o[0] * S0 - B0; start[1] = (int)o[1] * S1 - B1; start[2] = (int)o[2] * S2 - B2;
  inside<K0, D0>(start[0], (int)a.in[0], first[0], last[0]);
  inside<K1, D1>(start[1], (int)a.in[1], first[1], last[1]);
  inside<K2, D2>(start[2], (int)a.in[2], first[2], last[2]);
  const T* x = (const T*)a.x + n * a.x_stride[0] + (i64)g * V * a.x_stride[1];
  float r[V];
  for (int v = 0; v < V; ++v) r[v] = START;
  int count = 0;
  for (int kz = first[0]; kz < last[0]; ++kz)
    for (int ky = first[1]; ky < last[1]; ++ky)
      for (int kx = first[2]; kx < last[2]; ++kx) {
        T e[V];
        read<V>(x + (start[0] + kz * D0) * a.x_stride[2] + (start[1] + ky * D1) * a.x_stride[3] + (start[2] + kx * D2) * a.x_stride[4], e);
        for (int v = 0; v < V; ++v) r[v] = JOIN(r[v], (float)LOAD(e[v]));
        ++count;
      }
#if COUNT_PADS
  count = padded<K0, D0>(start[0], (int)a.in[0] + E0) * padded<K1, D1>(start[1], (int)a.in[1] + E1) *
          padded<K2, D2>(start[2], (int)a.in[2] + E2);
#endif
  T y[V];
  for (int v = 0; v < V; ++v) { const float f = FINISH; y[v] = STORE(f); }
  T* const place = (T*)a.y + n * a.y_stride[0] + (i64)g * V * a.y_stride[1] + o[0] * a.y_stride[2] +
                   o[1] * a.y_stride[3] + o[2] * a.y_stride[4];
  write<V>(place, y);
}
