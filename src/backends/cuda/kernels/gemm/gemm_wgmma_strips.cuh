// Two neighboring results in a strip in shared memory: put there, and another tensor's got from one. Bytes that floats are rounded to
// (STORED == 5) lie between BYTE_LOWER and BYTE_UPPER, and BYTE_ZERO is added to them.
#pragma once
#if STORED == 0
#include "backends/cuda/kernels/lib/pair.cuh"
typedef u32 Both;
#define BOTH_BITS "b32"
#define BOTH_REGISTER "r"
#elif STORED < 3 || STORED == 5
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
#elif STORED == 5
  const u32 first = rounded_byte<BYTE_LOWER, BYTE_UPPER>(low, BYTE_ZERO), second = rounded_byte<BYTE_LOWER, BYTE_UPPER>(high, BYTE_ZERO);
  const Both both = (u16)__byte_perm(first, second, 0x0040);
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

#ifdef GELU_HALF   // 1/2 in f16, twice in a word
#if STORED == 0
// GELU of both. The halves that gelu_half takes from a value are taken of both at once, in f16: within 2 ulp of f16 (lib/gelu_terms.h).
__device__ __forceinline__ void put_gelu(u32 place, float low, float high) {
  asm volatile("{\n\t.reg .b32 x, t, h;\n\tcvt.rn.f16x2.f32 x, %2, %1;\n\tcvt.rn.f16x2.f32 t, %4, %3;\n\t"
               "abs.f16x2 h, x;\n\tmul.rn.f16x2 h, h, %5;\n\tfma.rn.f16x2 h, x, %5, h;\n\tsub.rn.f16x2 h, h, t;\n\t"
               "st.shared.b32 [%0], h;\n\t}"
               :: "r"(place), "f"(low), "f"(high), "f"(gelu_tail(low)), "f"(gelu_tail(high)), "r"(GELU_HALF));
}
#else
// GELU of both, times a factor, in 8 bits. All of it is computed in f16, which is off by at most 1.2 % left of zero and 2^-10 right of it,
// where e4m3 rounds by 6 % and integers by half of one (tactics/gemm/gelu_test.cpp).
#if STORED == 1
#define PUT_HALVES "cvt.rn.satfinite.e4m3x2.f16x2 y, h;\n\t"
#else   // adding 1.5 * 2^10 leaves whole numbers in the last bytes
#define PUT_HALVES "max.f16x2 h, h, %10;\n\tmin.f16x2 h, h, %11;\n\tadd.rn.f16x2 h, h, %12;\n\tadd.u32 h, h, %13;\n\t" \
                   "prmt.b32 h, h, 0, 0x20;\n\tcvt.u16.u32 y, h;\n\t"
#endif
__device__ __forceinline__ void put_gelu(u32 place, float low, float high) {
  asm volatile("{\n\t.reg .b32 x, s, p, h;\n\t.reg .b16 y;\n\tcvt.rn.f16x2.f32 x, %2, %1;\n\tabs.f16x2 h, x;\n\t"
               "mul.rn.sat.f16x2 s, h, %4;\n\tfma.rn.f16x2 p, s, %9, %8;\n\tfma.rn.f16x2 p, p, s, %7;\n\tfma.rn.f16x2 p, p, s, %6;\n\t"
               "fma.rn.f16x2 p, p, s, %5;\n\tex2.approx.f16x2 p, p;\n\tmul.rn.f16x2 p, p, s;\n\tneg.f16x2 p, p;\n\t"
               "add.rn.f16x2 h, x, h;\n\t"
               "fma.rn.f16x2 h, h, %14, p;\n\tmul.rn.f16x2 h, h, %3;\n\t" PUT_HALVES "st.shared.b16 [%0], y;\n\t}"
               :: "r"(place), "f"(low), "f"(high), "r"(GELU_FACTOR), "r"(GELU_INVERSE_REACH), "r"(GELU_TAIL_0), "r"(GELU_TAIL_1),
                  "r"(GELU_TAIL_2), "r"(GELU_TAIL_3), "r"(GELU_TAIL_4), "r"(BYTE_LOWER_HALF), "r"(BYTE_UPPER_HALF), "r"(0x66006600u),
                  "r"(BYTE_ZERO * 0x10001u), "r"(GELU_HALF));
}
#endif
#endif
