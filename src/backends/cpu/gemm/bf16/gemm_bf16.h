// The blocked bf16 product with f32 sums around the AMX micro-kernel; gemm_bf16_plan.h has a picture of its loops.
#pragma once

#include "backends/cpu/gemm/bf16/bf16_epilogue.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_kernels.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_plan.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_rows.h"

namespace tenfold::backends::cpu {

// What one call has beside the plan.
struct GemmBf16Call {
  const GemmBf16Rows& rows;   // of A, in the plan's mode
  const void* b;              // packed
  std::int64_t first_panel, last_panel;   // of B
  const Bf16Epilogue& epilogue;
  const Bf16Epilogue::Binding& bound;
  char* scratch;   // GemmBf16Plan::scratch_bytes, 64-byte aligned
};

// All of these rows times these panels, and their epilogue.
void gemm_bf16(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept;

}  // namespace tenfold::backends::cpu
