// TopK of up to 1024, a block for each row: the best so far and the next elements are sorted together, unless none of these is good enough.
// A key is larger where an element is better; the earlier of equals is.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/reduce/topk_blocks.cpp prints those of a problem
#define T u16
#define COMPUTE float        // as an element is compared
#define LOADED(x) from_f16(x)
#define FLOATS 1
#define LARGEST true
#define HALF 128             // threads, and elements that are sorted into the best at a time
#endif

#include "backends/cuda/kernels/reduce/topk_args.h"
#include "backends/cuda/kernels/reduce/topk_order.cuh"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(HALF) topk(const TopkBlocksArguments a) {
  enter();
  __shared__ u64 keys[2 * HALF];
  const i64 r = blockIdx.x;
  const T* x = (const T*)a.x + r / a.inner * a.n * a.inner + r % a.inner;
  const auto key = [&](i64 i) { return i < a.n ? (u64)order(x[i * a.inner]) << 32 | (u32)~(u32)i : 0ull; };
  keys[threadIdx.x] = key(threadIdx.x);
  for (i64 first = HALF; first == HALF || first < a.n; first += HALF) {
    const u64 next = key(first + threadIdx.x);
    if (!__syncthreads_or(first == HALF || next > keys[a.k - 1])) continue;
    keys[HALF + threadIdx.x] = next;
    for (u32 length = 2; length <= 2 * HALF; length *= 2)
      for (u32 step = length / 2; step > 0; step /= 2) {
        __syncthreads();
        const u32 i = 2 * threadIdx.x - (threadIdx.x & (step - 1)), j = i + step;
        const bool descending = (i & length) == 0;
        const u64 p = keys[i], q = keys[j];
        if ((p < q) == descending) keys[i] = q, keys[j] = p;
      }
    __syncthreads();
  }
  if (threadIdx.x >= a.k) return;
  const i64 index = (i64)~(u32)keys[threadIdx.x], to = (r / a.inner * a.k + threadIdx.x) * a.inner + r % a.inner;
  ((T*)a.values)[to] = x[index * a.inner], a.indices[to] = index;
}
