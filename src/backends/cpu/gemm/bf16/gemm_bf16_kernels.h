// The tables of kernels of bf16 products.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_bf16.h"
#include "backends/cpu/kernels/gemm/gemm_bf16_strips.h"

namespace tenfold::backends::cpu {

// They are AMX's. Tests put portable ones in their place (gemm_bf16_for_tests.h).
struct GemmBf16Tables {
  const GemmBf16Kernels* tiles = &tenfold_gemm_bf16_amx;
  const GemmBf16Strips* strips = &tenfold_gemm_bf16_strips_amx;
};
inline constinit GemmBf16Tables gemm_bf16_tables;
inline const GemmBf16Kernels& gemm_bf16_kernels() { return *gemm_bf16_tables.tiles; }

}  // namespace tenfold::backends::cpu
