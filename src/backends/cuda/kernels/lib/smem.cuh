// Shared memory by its 32-bit addresses, as PTX takes them.
#pragma once
#include "backends/cuda/kernels/lib/types.cuh"

__device__ __forceinline__ u32 smem_address(const void* pointer) { return (u32)__cvta_generic_to_shared(pointer); }

__device__ __forceinline__ void st_shared_16(u32 to, uint4 x) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" :: "r"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w));
}
