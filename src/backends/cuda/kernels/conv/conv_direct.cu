// Convolutions of any float type, a thread for each result.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/conv/conv_direct.cpp prints those of a problem
#define T float
#define ACC float
#define THREADS 128
#define LOAD(e) e
#define STORE(e) e
#define FILTERS 32
#define DEPTH 16             // channels of a group
#define GROUPS 1
#define BIASED 1
#define K0 3
#define K1 3
#define K2 3
#define S0 1
#define S1 1
#define S2 1
#define D0 1
#define D1 1
#define D2 1
#define B0 1
#define B1 1
#define B2 1
#endif

#include "backends/cuda/kernels/conv/conv_direct_args.h"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(THREADS) conv(DirectConvArgumentsOf<T> a) {
  enter();
  const i64 linear = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (linear >= a.batch * a.out[0] * a.out[1] * a.out[2] * FILTERS) return;
  const int filter = (int)(linear % FILTERS), group = filter / (FILTERS / GROUPS);
  i64 i = linear / FILTERS;
  const int ox = (int)(i % a.out[2]); i /= a.out[2];
  const int oy = (int)(i % a.out[1]); i /= a.out[1];
  const int oz = (int)(i % a.out[0]); i /= a.out[0];
  ACC sum = 0;
  for (int kz = 0; kz < K0; ++kz) {
    const i64 z = (i64)oz * S0 - B0 + kz * D0;
    if (z < 0 || z >= a.in[0]) continue;
    for (int ky = 0; ky < K1; ++ky) {
      const i64 y = (i64)oy * S1 - B1 + ky * D1;
      if (y < 0 || y >= a.in[1]) continue;
      for (int kx = 0; kx < K2; ++kx) {
        const i64 x = (i64)ox * S2 - B2 + kx * D2;
        if (x < 0 || x >= a.in[2]) continue;
        const T* from = a.x + (((i * a.in[0] + z) * a.in[1] + y) * a.in[2] + x) * (DEPTH * GROUPS) + group * DEPTH;
        const T* w = a.w + (i64)((kz * K1 + ky) * K2 + kx) * DEPTH * FILTERS + filter;
        #pragma unroll 4
        for (int c = 0; c < DEPTH; ++c) sum += (ACC)LOAD(from[c]) * (ACC)LOAD(w[(i64)c * FILTERS]);
      }
    }
  }
#if BIASED
  sum += (ACC)LOAD(a.bias[filter]);
#endif
  a.y[linear] = STORE(sum);
}
