// Barriers in shared memory (mbarrier), and named barriers (bar).
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

__device__ __forceinline__ void mbarrier_init(u32 barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count) : "memory");
}
// Makes initialized barriers known to the other blocks of a cluster and to TMA.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async;" ::: "memory");
}
__device__ __forceinline__ void mbarrier_wait(u32 barrier, u32 parity) {
  asm volatile("{\n\t.reg .pred done;\n\tAGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@done bra DONE;\n\t"
               "bra AGAIN;\n\tDONE:\n\t}" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void mbarrier_expect_tx(u32 barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

__device__ __forceinline__ void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(threads) : "memory");
}
