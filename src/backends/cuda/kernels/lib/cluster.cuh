// Blocks of a cluster: they meet, and read and write each other's shared memory.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

__device__ __forceinline__ void cluster_sync() { asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory"); }
// For warps whose lanes are together.
__device__ __forceinline__ void cluster_sync_aligned() {
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
// The two halves, between which a block does what the others need not know of. For any lanes of a warp.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// Where a place of this block's shared memory is in another one's.
__device__ __forceinline__ u32 mapa(u32 address, int block) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
__device__ __forceinline__ void mbarrier_wait_cluster(u32 barrier, u32 parity) {
  asm volatile("{\n\t.reg .pred done;\n\tAGAIN:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t"
               "@done bra DONE;\n\tbra AGAIN;\n\tDONE:\n\t}" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive_cluster(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(barrier) : "memory");
}
// Two floats for another block's memory; their bytes count on an mbarrier beside them. `to` and `barrier` are what mapa() gives.
__device__ __forceinline__ void st_async(u32 to, float x, float y, u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];"
               :: "r"(to), "f"(x), "f"(y), "r"(barrier) : "memory");
}
