// What products with a constant matrix on AMX tiles share, in one part of bf16 or in two.
#pragma once

#include "backends/cpu/gemm/gemm_bf16.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// The constant matrix, [k, n], and how plans hold it.
GemmBf16Weights matmul_bf16_weights(const Problem& problem);
std::int64_t matmul_bf16_bytes(const Problem& problem, const Config& config, int input);
void matmul_bf16_pack(const Problem& problem, const Config& config, int input, std::span<const Tensor* const> constants, void* packed);
Tensor matmul_bf16_unpack(const Problem& problem, const Config& config, int input, const void* packed);
// Whether operands are those of such a product, whatever their types.
Verdict matmul_amx_supported(const Problem& problem);
// All but what it supports.
Tactic matmul_amx(const char* name, int version);

}  // namespace tenfold::backends::cpu
