// ScatterND without a reduction: a thread for each element of the updates. An index outside the data is noted and its update left out.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/index/scatter_nd_elements.cpp prints those of a problem
#define ELEMENT u16
#define INDEX i64            // of which the indices are
#define DEPTH 1              // dims that are indexed
#define THREADS 256
#endif

#include "backends/cuda/kernels/index/scatter_nd_args.h"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(THREADS) scatter(const ScatterNdArgumentsOf<ELEMENT, INDEX> a) {
  const i64 i = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= a.elements) return;
  const INDEX* index = a.index + i / a.block * DEPTH;
  i64 to = i % a.block;
  #pragma unroll
  for (int d = 0; d < DEPTH; ++d) {
    i64 at = (i64)index[d];
    if (at < 0) at += a.dims[d];
    if (at < 0 || at >= a.dims[d]) {
      *a.bad_index = 1;
      return;
    }
    to += at * a.strides[d];
  }
  a.y[to] = a.updates[i];
}
