// Slices whose bounds the device reads: a thread for each element of the result.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/move/slice.cpp prints those of a problem
#define ELEMENT u16
#define INDEX i64            // of starts, axes and steps
#define RANK 3
#define THREADS 256
#endif

#include "backends/cuda/kernels/move/slice_args.h"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(THREADS) slice(const SliceArguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.elements) return;
  i64 rest = i, from = 0;
  #pragma unroll
  for (int d = RANK - 1; d >= 0; --d) {
    i64 start = 0, step = 1;
    for (int s = 0; s < (int)a.count; ++s) {
      i64 axis = a.axes ? (i64)((const INDEX*)a.axes)[s] : s;
      if (axis < 0) axis += RANK;
      if (axis != d) continue;
      step = a.steps ? (i64)((const INDEX*)a.steps)[s] : 1;
      start = (i64)((const INDEX*)a.starts)[s];
      if (start < 0) start += a.x_dims[d];
      start = max((i64)0, min(start, step < 0 ? a.x_dims[d] - 1 : a.x_dims[d]));
    }
    from += (start + rest % a.y_dims[d] * step) * a.x_strides[d];
    rest /= a.y_dims[d];
  }
  ((ELEMENT*)a.y)[i] = ((const ELEMENT*)a.x)[from];
}
