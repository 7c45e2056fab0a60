// Products of a warpgroup (wgmma). The products themselves have as many operands as results, so that codegen/wgmma_text.h prints them.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft> __device__ __forceinline__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(kLeft) : "memory");
}
// Keeps the compiler from reading accumulators before the group that computes them has ended.
template <int kCount> __device__ __forceinline__ void wgmma_fence_operand(float (&c)[kCount]) {
  #pragma unroll
  for (int e = 0; e < kCount; ++e) asm volatile("" : "+f"(c[e]));
}
template <int kCount> __device__ __forceinline__ void wgmma_fence_operand(int (&c)[kCount]) {
  #pragma unroll
  for (int e = 0; e < kCount; ++e) asm volatile("" : "+r"(c[e]));
}
// The matrix descriptor of a tile in shared memory: rows of 128 or 64 bytes in groups of eight, their pieces of 16 bytes permuted as TMA
// leaves them (128-byte and 64-byte swizzle).
template <int kRowBytes = 128> __device__ __forceinline__ u64 smem_descriptor(u32 address) {
  return (u64)(address >> 4 & 0x3fff) | 1ull << 16 | (u64)(kRowBytes / 2) << 32 | (kRowBytes == 128 ? 1ull : 2ull) << 62;
}

// Registers of consumer warpgroups are taken from the producer's.
template <int kCount> __device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(kCount));
}
template <int kCount> __device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(kCount));
}
