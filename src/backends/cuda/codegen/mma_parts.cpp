// What kernels on tensor cores share.
#include "backends/cuda/codegen/mma_parts.h"

#include "base/check.h"

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

const char* mma_type(DType dtype) {
  switch (dtype) {
    case DType::bf16: return "bf16";
    case DType::f8e4m3fn: return "e4m3";
    case DType::i8: return "s8";
    case DType::u8: return "u8";
    case DType::f32: return "tf32";
    default: return "f16";
  }
}

namespace {

// One product of fragments into sums of f32, for elements that are 32 bytes `depth` by `depth` along k.
std::string float_multiply(int depth, const std::string& types) {
  return cat("__device__ __forceinline__ void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {\n"
             "  asm volatile(\"mma.sync.aligned.m16n8k", depth, ".row.col.f32.", types, ".f32 \"\n"
             "               \"{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\"\n"
             "               : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3])\n"
             "               : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b0), \"r\"(b1));\n}\n");
}

}  // namespace

std::string mma_tf32_helper() {
  return cat("__device__ __forceinline__ u32 to_tf32(u32 x) { asm(\"cvt.rna.tf32.f32 %0, %0;\" : \"+r\"(x)); return x; }\n",
             float_multiply(8, "tf32.tf32"));
}

std::string mma_bytes_helper(DType a, DType b) {
  const std::string types = cat(mma_type(a), ".", mma_type(b));
  if (a == DType::f8e4m3fn) return float_multiply(32, types);
  return cat("#define BYTES_OF_MMA \"", types, "\"\n", R"(
__device__ __forceinline__ void multiply(int (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." BYTES_OF_MMA ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." BYTES_OF_MMA ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(c[2 * h]), "+r"(c[2 * h + 1]) : "r"(a[h]), "r"(b0));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." BYTES_OF_MMA ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(c[2 * h]), "+r"(c[2 * h + 1]) : "r"(a[h + 2]), "r"(b1));
  }
#endif
}
)");
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
