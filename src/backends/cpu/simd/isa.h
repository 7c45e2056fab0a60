// Names of the tables that kernels export, one per instruction set: TENFOLD_TABLE(gemm_f32) is tenfold_gemm_f32_avx2.
#pragma once

#define TENFOLD_JOIN_(a, b, c) a##b##_##c
#define TENFOLD_JOIN(a, b, c) TENFOLD_JOIN_(a, b, c)
#define TENFOLD_TABLE(family) TENFOLD_JOIN(tenfold_, family, TENFOLD_ISA)
