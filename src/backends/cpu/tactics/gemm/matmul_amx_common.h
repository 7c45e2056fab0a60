// What products with a constant matrix on AMX tiles share, in one term of bf16, in two or in three.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16_b.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// The constant matrix, [k, n], in as many terms as what may be rounded takes; and how plans hold it.
GemmBf16B matmul_bf16_weights(const Problem& problem);
void matmul_bf16_pack(const GemmBf16B& weights, std::span<const Tensor* const> constants, void* packed);
Tensor matmul_bf16_unpack(const GemmBf16B& weights, const void* packed);
// Whether operands are those of such a product, whatever their types.
Verdict matmul_amx_supported(const Problem& problem);
// Of values in `terms` of bf16: one (rounded, or bf16 already), two or three.
Tactic matmul_amx(const char* name, int version, int terms);

}  // namespace tenfold::backends::cpu
