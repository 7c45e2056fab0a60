// What kernels on tensor cores share.
#include "backends/cuda/codegen/mma_parts.h"

namespace tenfold::backends::cuda {

const char* mma_helpers() {
  return R"(
__device__ __forceinline__ void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPE "." MMA_TYPE ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}
__device__ __forceinline__ u32 pair(float low, float high) {
#if __CUDA_ARCH__ >= 800
  u32 both;
  asm("cvt.rn." MMA_TYPE "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  return (u32)to_f16(low) | (u32)to_f16(high) << 16;
#endif
}
)";
}

const char* exchange_helper() {
  return R"(
__device__ __forceinline__ void exchange(u32 (&v)[4], int lane) {
  #pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const u32 other = __shfl_xor_sync(~0u, lane & 1 ? v[i] : v[i + 1], 1);
    if (lane & 1) v[i] = other; else v[i + 1] = other;
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const u32 other = __shfl_xor_sync(~0u, lane & 2 ? v[i] : v[i + 2], 2);
    if (lane & 2) v[i] = other; else v[i + 2] = other;
  }
}
)";
}

}  // namespace tenfold::backends::cuda
