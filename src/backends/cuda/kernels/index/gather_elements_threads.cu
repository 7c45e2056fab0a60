// GatherElements, a thread for each element of the result. An index outside the data gives zero and is noted.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/index/gather_elements_threads.cpp prints those of a problem
#define ELEMENT u16
#define INDEX i64            // of which the indices are
#define RANK 3
#define AXIS 1
#define THREADS 256
#endif

#include "backends/cuda/kernels/index/gather_elements_args.h"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(THREADS) gather_elements(const GatherElementsArgumentsOf<ELEMENT, INDEX> a) {
  enter();
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.elements) return;
  i64 rest = i, from = 0;
  bool inside = true;
  #pragma unroll
  for (int d = RANK - 1; d >= 0; --d) {
    i64 at = rest % a.y_dims[d];
    if (d == AXIS) at = (i64)a.index[i];
    if (d == AXIS && at < 0) at += a.x_dims[d];
    inside = inside && at >= 0 && at < a.x_dims[d];
    from += at * a.x_strides[d];
    rest /= a.y_dims[d];
  }
  if (!inside) *a.bad_index = 1;
  a.y[i] = inside ? a.x[from] : (ELEMENT)0;
}
