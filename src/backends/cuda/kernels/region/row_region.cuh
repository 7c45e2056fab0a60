// What kernels that walk rows have in common; their walks are printed (codegen/region/row_region.cpp).
#pragma once
#include "backends/cuda/kernels/lib/prelude.cuh"
#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/region/row_region_args.h"

using namespace tenfold::backends::cuda;
typedef RowRegionArgumentsOf<INPUTS, OUTPUTS, NUMBERS, ROW_NUMBERS> Arguments;

// A kernel and how it begins: `threads` of a block's have a row.
#define ROW_KERNEL(name, cluster, of_block) \
  extern "C" __global__ void cluster __launch_bounds__(of_block) name(const __grid_constant__ Arguments a)
#define ENTER_ROW(threads)            \
  enter();                            \
  __shared__ float room[32];          \
  (void)room;                         \
  constexpr int kThreads = threads;   \
  const int t = threadIdx.x % kThreads;

#if CLUSTER > 1
// Sums and maxima over the blocks of a row: each leaves its own in a slot, all read them in the same order.
template <class Op, int BLOCKS> __device__ __forceinline__ float over_cluster(const float* slot) {
  const u32 own = (u32)__cvta_generic_to_shared(slot);
  float all = 0.f;
  #pragma unroll
  for (int block = 0; block < BLOCKS; ++block) {
    const u32 there = mapa(own, block);
    float x;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there) : "memory");
    all = block == 0 ? x : Op::apply(all, x);
  }
  return all;
}
#endif
