// DequantizeLinear of integers of 4 and 8 bits, a thread for each element: (x - zero point) * scale.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/region/dequantize_linear_elements.cpp prints those of a problem
#define NIBBLES 1            // two elements of x, and two zero points, are a byte
#define SIGNED 1
#define AXIS 1
#define BLOCK 32             // elements along AXIS that share a scale; 0: those of one place there
#define ONE_SCALE 0          // there is one for all
#endif

__device__ __forceinline__ float integer_at(const void* p, i64 i) {
#if NIBBLES
  const int value = ((const u8*)p)[i / 2] >> (i % 2 * 4) & 15;
  return (float)(SIGNED && value > 7 ? value - 16 : value);
#else
  return SIGNED ? (float)((const i8*)p)[i] : (float)((const u8*)p)[i];
#endif
}

RULE(element) {
  i64 at[8], scale_at[8];
  places<RANKY0>(a.out[0], i, at);
  i64 of_scale = 0, of_zero = 0;
#if !ONE_SCALE
#if BLOCK > 0
  #pragma unroll
  for (int d = 0; d < RANKY0; ++d) scale_at[d] = d == AXIS ? at[d] / BLOCK : at[d];
#else
  scale_at[0] = at[AXIS];
#endif
  of_scale = offset<RANK1>(a.in[1], scale_at);
#if OWN2
  of_zero = offset<RANK2>(a.in[2], scale_at);
#endif
#endif
  (void)scale_at, (void)of_zero;
  float x = integer_at(a.in[0].p, offset<RANK0>(a.in[0], at));
#if OWN2
  x -= integer_at(a.in[2].p, of_zero);
#endif
  finish(a, at, x * LOAD1(((const T1*)a.in[1].p)[of_scale]));
}
