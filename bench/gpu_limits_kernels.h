// The kernels of gpu_limits.cpp, compiled by NVRTC with the engine's headers.
#pragma once

namespace tenfold::bench {

inline constexpr char kLimitsKernels[] = R"cuda(
#include "backends/cuda/kernels/lib/prelude.cuh"
#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/mbarrier.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/lib/tma.cuh"

__device__ __forceinline__ i64 now() { i64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t) :: "memory"); return t; }
__device__ __forceinline__ void signal(u32* counter) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" :: "l"(counter) : "memory");
}
__device__ __forceinline__ void wait_for(const u32* counter, u32 value) {
  u32 x;
  do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(counter) : "memory"); while ((int)(x - value) < 0);
}

// A stage: each block adds 1 to the BYTES that its neighbor within a row tile of `group` blocks wrote in the stage before.
struct Stages {
  float* rows;       // [2][blocks][BYTES / 4]
  u32* counters;     // one for each row tile
  int group, first, count;
  u32 before;        // what counters say when the run begins: they are never reset
};
__device__ __forceinline__ void stage(const Stages& a, int s, u32 room, u32 full, u32 parity) {
#if BYTES > 0
  const int block = blockIdx.x, from = block / a.group * a.group + (block + 1) % a.group;
  if (threadIdx.x == 0) {
    asm volatile("fence.proxy.async.global;" ::: "memory");   // others' stores, before TMA reads them
    mbarrier_expect_tx(full, BYTES);
    tma_load_bytes(room, a.rows + ((i64)(s & 1) * gridDim.x + from) * (BYTES / 4), BYTES, full);
  }
  mbarrier_wait(full, parity);
  float4* to = (float4*)(a.rows + ((i64)(~s & 1) * gridDim.x + block) * (BYTES / 4));
  for (int i = threadIdx.x; i < BYTES / 16; i += 128) {
    float4 x;
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(room + 16 * i) : "memory");
    x.x += 1.f, x.y += 1.f, x.z += 1.f, x.w += 1.f;
    to[i] = x;
  }
#endif
}
__device__ __forceinline__ u32 begin_stages(u32 full) {
  if (threadIdx.x == 0) mbarrier_init(full, 1), fence_mbarrier_init();
  __syncthreads();
  return full;
}
// A kernel for each stage, started early or not.
extern "C" __global__ void __launch_bounds__(128) one_stage(Stages a) {
  __shared__ __align__(128) u8 room[BYTES + 128];
  const u32 full = begin_stages(smem_address(room) + BYTES);
  enter_persistent();
  stage(a, a.first, smem_address(room), full, 0);
}
// One kernel for all: stages are divided by a counter of each row tile; one tile of all blocks is a barrier through the second cache.
extern "C" __global__ void __launch_bounds__(128) all_stages(Stages a) {
  __shared__ __align__(128) u8 room[BYTES + 128];
  const u32 full = begin_stages(smem_address(room) + BYTES);
  u32* counter = a.counters + blockIdx.x / a.group * 32;
  for (int s = 0; s < a.count; ++s) {
    if (s > 0 && threadIdx.x == 0) wait_for(counter, a.before + s * a.group);
    if (BYTES == 0) __syncthreads();   // else the loads of thread 0 hold the others up
    stage(a, a.first + s, smem_address(room), full, s & 1);
    __syncthreads();
    if (threadIdx.x == 0) signal(counter);
  }
}

// Bytes from the second cache in one pass of `steps` boxes of 8 KiB, as gemm_skinny asks for them; each block of a cluster of SHARE brings
// a SHARE of each box to all. `clocks`: the mean of passes.
struct Loads {
  TensorMap map;          // boxes of 64 x 128 bytes of a matrix whose rows have 6 KiB
  const u8* from;
  i64* clocks;
  int steps, apart, passes;   // apart: how many boxes lie between one block's and the next one's
};
extern "C" __global__ void __cluster_dims__(SHARE, 1, 1) __launch_bounds__(128) load_boxes(const __grid_constant__ Loads a) {
  extern __shared__ u8 shared[];
  const u32 base = smem_address(shared) + 1023 & ~1023u, full = base + a.steps * 8192;
  if (threadIdx.x == 0) mbarrier_init(full, 1), fence_mbarrier_init();
  cluster_sync();
  const int rank = blockIdx.x % SHARE, team = blockIdx.x / SHARE;
  i64 clocks = 0;
  for (int pass = 0; pass < a.passes; ++pass) {
    cluster_sync();
    const i64 start = now();
    if (threadIdx.x == 0) mbarrier_expect_tx(full, a.steps * 8192);
    if (SHARE > 1) cluster_sync();   // all expect them before any comes
    if (threadIdx.x == 0)
      for (int s = 0; s < a.steps; ++s) {
        const int box = team * a.apart + s;
#if TENSOR
        tma_load_2d(base + s * 8192, a.map, box % 48 * 64, box / 48 * 64, full);
#elif SHARE == 1
        tma_load_bytes(base + s * 8192, a.from + (i64)box * 8192, 8192, full);
#else
        constexpr int kPart = 8192 / SHARE;
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                     :: "r"(base + s * 8192 + rank * kPart), "l"(a.from + (i64)box * 8192 + rank * kPart), "r"(kPart), "r"(full),
                        "h"((u16)((1 << SHARE) - 1)) : "memory");
#endif
      }
    mbarrier_wait(full, pass & 1);
    clocks += now() - start;
    __syncthreads();
  }
  cluster_sync();
  if (threadIdx.x == 0) a.clocks[blockIdx.x] = clocks / a.passes;
}

// 16 KiB that a block gets from the next one of its cluster of 4: by reading (0), or as that block writes them, by threads (1: 8 bytes at
// once, 2: 16) or by one bulk copy (3).
struct Others {
  i64* clocks;
  int passes;
};
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) exchange(Others a) {
  constexpr int kBytes = 16384;
  __shared__ __align__(128) u8 mine[kBytes], room[kBytes];
  __shared__ u64 barrier;
  const u32 full = smem_address(&barrier), own = smem_address(mine), to = mapa(smem_address(room), (blockIdx.x + 1) % 4);
  const u32 there = mapa(own, (blockIdx.x + 1) % 4), full_there = mapa(full, (blockIdx.x + 1) % 4);
  if (threadIdx.x == 0) mbarrier_init(full, 1), fence_mbarrier_init();
  for (int i = threadIdx.x; i < kBytes / 4; i += 128) ((float*)mine)[i] = i;
  fence_proxy_async();
  cluster_sync();
  i64 clocks = 0;
  float sum = 0.f;
  for (int pass = 0; pass < a.passes; ++pass) {
    if (WAY > 0 && threadIdx.x == 0) mbarrier_expect_tx(full, kBytes);
    cluster_sync();
    const i64 start = now();
#if WAY == 0
    float x[kBytes / 2048][4];
    #pragma unroll
    for (int i = 0; i < kBytes / 2048; ++i)
      asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x[i][0]), "=f"(x[i][1]), "=f"(x[i][2]), "=f"(x[i][3])
                   : "r"(there + 16 * (i * 128 + threadIdx.x)));
    #pragma unroll
    for (int i = 0; i < kBytes / 2048; ++i) sum += x[i][0] + x[i][1] + x[i][2] + x[i][3];
    asm volatile("" :: "f"(sum) : "memory");
    __syncthreads();
#elif WAY == 1
    #pragma unroll
    for (int i = 0; i < kBytes / 1024; ++i) st_async(to + 8 * (i * 128 + threadIdx.x), sum, sum, full_there);
#elif WAY == 2
    #pragma unroll
    for (int i = 0; i < kBytes / 2048; ++i)
      asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %1, %1, %1}, [%2];"
                   :: "r"(to + 16 * (i * 128 + threadIdx.x)), "f"(sum), "r"(full_there) : "memory");
#else
    if (threadIdx.x == 0)
      asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   :: "r"(to), "r"(own), "r"(kBytes), "r"(full_there) : "memory");
#endif
    if (WAY > 0) mbarrier_wait_cluster(full, pass & 1);
    clocks += now() - start;
  }
  cluster_sync();
  if (threadIdx.x == 0) a.clocks[blockIdx.x] = clocks / a.passes + (sum == 1.5f);
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(128) cluster_barriers(Others a) {
  cluster_sync();
  const i64 start = now();
  for (int pass = 0; pass < a.passes; ++pass) cluster_sync();
  if (threadIdx.x == 0) a.clocks[blockIdx.x] = (now() - start) / a.passes;
}
)cuda";

}  // namespace tenfold::bench
