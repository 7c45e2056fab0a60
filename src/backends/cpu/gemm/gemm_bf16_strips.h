// The bf16 product for few steps of k, 16 rows times 64 columns at a time.
#pragma once

#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/cpu/kernels/product/gemm_bf16_strips.h"

namespace tenfold::backends::cpu {

// Whether gemm_bf16 takes this way: 64 columns of weights fit the first cache, all of them easily the second one, and columns are whole
// pairs of panels.
bool takes_strips(const GemmBf16Weights& w, std::int64_t first_panel, std::int64_t last_panel, const Bf16Epilogue& epilogue) noexcept;
void gemm_bf16_strips(const GemmBf16Weights& w, const void* packed, const GemmBf16Rows& rows, std::int64_t first_panel,
                      std::int64_t last_panel, bool panels_inside, const Bf16Epilogue& epilogue, const Bf16Epilogue::Binding& bound,
                      float* sums) noexcept;

}  // namespace tenfold::backends::cpu
