// Two neighbouring results in a strip in shared memory: put there, and another tensor's got from one.
#pragma once
#if STORED == 0
#include "backends/cuda/kernels/lib/pair.cuh"
typedef u32 Both;
#define BOTH_BITS "b32"
#define BOTH_REGISTER "r"
#elif STORED < 3
typedef u16 Both;
#define BOTH_BITS "b16"
#define BOTH_REGISTER "h"
#else
typedef u64 Both;
#define BOTH_BITS "b64"
#define BOTH_REGISTER "l"
#endif

__device__ __forceinline__ void put(u32 place, RESULT low, RESULT high) {
#if STORED == 0
  const Both both = pair(low, high);
#elif STORED == 1
  Both both;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
#elif STORED == 2
  const Both both = (u16)((u8)low | (u16)(u8)high << 8);
#elif STORED == 3
  const Both both = (u64)__float_as_uint(high) << 32 | __float_as_uint(low);
#else
  const Both both = (u64)(u32)high << 32 | (u32)low;
#endif
  asm volatile("st.shared." BOTH_BITS " [%0], %1;" :: "r"(place), BOTH_REGISTER(both));
}
__device__ __forceinline__ void get(u32 place, OUT (&x)[2]) {
  Both both;
  asm volatile("ld.shared." BOTH_BITS " %0, [%1];" : "=" BOTH_REGISTER(both) : "r"(place));
#if STORED == 3
  x[0] = __uint_as_float((u32)both), x[1] = __uint_as_float((u32)(both >> 32));
#else
  x[0] = (OUT)both, x[1] = (OUT)(both >> 8 * sizeof(OUT));
#endif
}

#ifdef GELU_HALF   // 1/2 and a factor of e4m3 in f16, twice in a word
// GELU of both. The halves that gelu_half takes from a value are taken of both at once, in f16: within 2 ulp of f16 (lib/gelu_terms.h).
#if STORED == 1
#define PUT_HALVES "mul.rn.f16x2 h, h, %6;\n\tcvt.rn.satfinite.e4m3x2.f16x2 y, h;\n\tst.shared.b16 [%0], y;"
#else
#define PUT_HALVES "st.shared.b32 [%0], h;"
#endif
__device__ __forceinline__ void put_gelu(u32 place, float low, float high) {
  asm volatile("{\n\t.reg .b32 x, t, h;\n\t.reg .b16 y;\n\tcvt.rn.f16x2.f32 x, %2, %1;\n\tcvt.rn.f16x2.f32 t, %4, %3;\n\t"
               "abs.f16x2 h, x;\n\tmul.rn.f16x2 h, h, %5;\n\tfma.rn.f16x2 h, x, %5, h;\n\tsub.rn.f16x2 h, h, t;\n\t" PUT_HALVES "\n\t}"
               :: "r"(place), "f"(low), "f"(high), "f"(gelu_tail(low)), "f"(gelu_tail(high)), "r"(GELU_HALF), "r"(GELU_FACTOR));
}
#endif
