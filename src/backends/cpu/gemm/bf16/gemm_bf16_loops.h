// The loops around the micro-kernel, one function for each way to nest them. Tile registers are set up by the caller.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16.h"

namespace tenfold::backends::cpu {

// GemmBf16Call::scratch, divided.
struct GemmBf16Scratch {
  char *split, *epilogue;   // panels that are split on the way; what the block executor needs
  float* sums;
  GemmBf16Scratch(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept
      : split(call.scratch),
        epilogue(split + plan.split_bytes((call.last_panel - call.first_panel) * GemmBf16Plan::kNr)),
        sums(reinterpret_cast<float*>(epilogue + plan.epilogue_bytes)) {}
};

void gemm_bf16_k_whole(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept;
void gemm_bf16_k_pieces(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept;
void gemm_bf16_strips(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept;

}  // namespace tenfold::backends::cpu
