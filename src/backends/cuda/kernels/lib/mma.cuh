// Products of a warp's fragments (mma.sync), c += a * b, for the type that MMA_BITS and MMA_TYPES name:
//   16  m16n8k16 of f16 or bf16 (BF16); before sm_80 two of m16n8k8
//   32  m16n8k8 of tf32: registers hold half as many elements as for 16 bits; needs sm_80
//    8  m16n8k32 of MMA_TYPES, "s8.s8" say, into integers, or of "e4m3.e4m3" (MMA_E4M3) into floats: twice as many elements
#pragma once
#include "backends/cuda/kernels/lib/pair.cuh"

#if BF16
#define MMA_16 "bf16.bf16"
#else
#define MMA_16 "f16.f16"
#endif

#if MMA_BITS == 32
__device__ __forceinline__ u32 to_tf32(u32 x) { asm("cvt.rna.tf32.f32 %0, %0;" : "+r"(x)); return x; }
#endif

#if MMA_BITS == 16
__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." MMA_16 ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}
#elif MMA_BITS == 32
__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#elif MMA_E4M3
__device__ __forceinline__ void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#else
__device__ __forceinline__ void mma(int (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." MMA_TYPES ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." MMA_TYPES ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(c[2 * h]), "+r"(c[2 * h + 1]) : "r"(a[h]), "r"(b0));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." MMA_TYPES ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(c[2 * h]), "+r"(c[2 * h + 1]) : "r"(a[h + 2]), "r"(b1));
  }
#endif
}
#endif
