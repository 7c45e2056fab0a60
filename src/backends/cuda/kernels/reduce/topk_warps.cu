// TopK of up to 32 of rows that lie together: a warp for each row, which it holds in registers. The k-th best of what its lanes (or halves
// of them) hold at best is a bound that few elements reach; these are sorted, 32 at a time. The key of an element is larger where it is
// better; of equals, that of the earlier one is. 16-bit floats differ in the upper 19 bits of their order, so that an index fits below.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/reduce/topk_warps.cpp prints those of a problem
#define T u16
#define COMPUTE float        // as an element is compared
#define LOADED(x) from_f16(x)
#define FLOATS 1
#define LARGEST true
#define WARPS 4              // rows of a block
#define ROOM 128             // elements that reach the bound
#define LENGTH a.n           // of a row
#define PER 16               // elements of a lane
#define HALVES 1             // T has 16 bits
#define HALVED true          // a bound of two maxima for each lane
#endif

#include "backends/cuda/kernels/reduce/topk_args.h"
#include "backends/cuda/kernels/reduce/topk_order.cuh"

using namespace tenfold::backends::cuda;

#if HALVES
typedef u32 Key;
__device__ __forceinline__ u32 first_part(T x, int i) { return (order(x) & ~0x1fffu) | (u32)(0x1fff - i); }
__device__ __forceinline__ Key whole_key(u32 first, int) { return first; }
__device__ __forceinline__ int index_of(Key key) { return 0x1fff - (int)(key & 0x1fffu); }
#else
typedef u64 Key;
__device__ __forceinline__ u32 first_part(T x, int) { return order(x); }
__device__ __forceinline__ Key whole_key(u32 first, int i) { return (u64)first << 32 | (u32)~(u32)i; }
__device__ __forceinline__ int index_of(Key key) { return (int)~(u32)key; }
#endif
__device__ __forceinline__ u32 larger_or_smaller(u32 x, u32 y, bool larger) { return larger ? max(x, y) : min(x, y); }
__device__ __forceinline__ u64 larger_or_smaller(u64 x, u64 y, bool larger) { return (y > x) == larger ? y : x; }
// The largest first, or last, among the lanes of a warp.
template <bool RISES = false, class U> __device__ __forceinline__ void sort(U& x, int lane) {
  #pragma unroll
  for (int length = 2; length <= 32; length *= 2)
    #pragma unroll
    for (int step = length / 2; step > 0; step /= 2)
      x = larger_or_smaller(x, __shfl_xor_sync(~0u, x, step), (((lane & step) == 0) == ((lane & length) == 0)) != RISES);
}
// The largest first of what first rises, then falls, or the other way round.
template <class U> __device__ __forceinline__ void merge(U& x, int lane) {
  #pragma unroll
  for (int step = 16; step > 0; step /= 2) x = larger_or_smaller(x, __shfl_xor_sync(~0u, x, step), (lane & step) == 0);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) topk(const TopkWarpsArguments a) {
  enter();
  __shared__ Key found[WARPS][ROOM];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = (int)LENGTH, k = (int)a.k;
  const i64 row = (i64)blockIdx.x * WARPS + warp;
  if (row >= a.rows) return;
  const T* x = (const T*)a.x + row * n;
  T read[PER];
  #pragma unroll
  for (int i = 0; i < PER; ++i)
    if (i * 32 + lane < n) read[i] = x[i * 32 + lane];
  u32 keys[PER], most = 0, max_second = 0;   // these: of the first and the second half
  #pragma unroll
  for (int i = 0; i < PER; ++i) {
    keys[i] = i * 32 + lane < n ? first_part(read[i], i * 32 + lane) : 0;
    if (HALVED && i >= PER / 2) max_second = max(max_second, keys[i]);
    else most = max(most, keys[i]);
  }
  u32 sorted = most;
  sort(sorted, lane);
  if (HALVED) {
    sort<true>(max_second, lane);
    sorted = max(sorted, max_second);
    merge(sorted, lane);
  }
  const u32 bound = __shfl_sync(~0u, sorted, k - 1);
  int own = 0, before = 0;   // elements that reach it: of this lane, and of those before
  #pragma unroll
  for (int i = 0; i < PER; ++i) own += keys[i] >= bound && i * 32 + lane < n;
  before = own;
  #pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, before, step);
    if (lane >= step) before += other;
  }
  const int count = __shfl_sync(~0u, before, 31);
  before -= own;
  Key best = 0;   // of each lane; the warp's are sorted
  const auto full = [&](int i) { return i * 32 + lane < n ? whole_key(keys[i], i * 32 + lane) : (Key)0; };
  const auto take = [&](Key next) {
    sort<true>(next, lane);
    best = max(best, next);
    merge(best, lane);
  };
  if (count <= ROOM) {
    if (own > 0) {
      #pragma unroll
      for (int i = 0; i < PER; ++i)
        if (keys[i] >= bound && i * 32 + lane < n) found[warp][before++] = full(i);
    }
    __syncwarp();
    if (lane < count) best = found[warp][lane];
    sort(best, lane);
    for (int first = 32; first < count; first += 32) take(first + lane < count ? found[warp][first + lane] : 0);
  } else {   // many are equal
    #pragma unroll
    for (int i = 0; i < PER; ++i)
      if (const Key next = full(i); __any_sync(~0u, next > __shfl_sync(~0u, best, k - 1))) take(next);
  }
  if (lane >= k) return;
  const i64 index = index_of(best);
  ((T*)a.values)[row * k + lane] = x[index], a.indices[row * k + lane] = index;
}
