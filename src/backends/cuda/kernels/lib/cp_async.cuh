// Copies from global to shared memory that need no registers (cp.async). Before sm_80 they are loads and stores.
#pragma once
#include "backends/cuda/kernels/lib/smem.cuh"

// 16 bytes, or zeros.
__device__ __forceinline__ void cp_async_16(u32 to, const void* from, bool there) {
#if __CUDA_ARCH__ >= 800
  const int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes));
#else
  uint4 x = make_uint4(0, 0, 0, 0);
  if (there) x = *(const uint4*)from;
  st_shared_16(to, x);
#endif
}
__device__ __forceinline__ void cp_async_16(void* to, const void* from, bool there) {
#if __CUDA_ARCH__ >= 800
  cp_async_16(smem_address(to), from, there);
#else
  *(uint4*)to = there ? *(const uint4*)from : make_uint4(0, 0, 0, 0);
#endif
}
__device__ __forceinline__ void cp_async_16(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(smem_address(to)), "l"(from));
#else
  *(uint4*)to = *(const uint4*)from;
#endif
}
__device__ __forceinline__ void cp_async_commit_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;");
#endif
}
// Until all but so many of the last groups are there.
template <int kLeft> __device__ __forceinline__ void cp_async_wait_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" :: "n"(kLeft));
#endif
}
