// Stacks of products of two activations, broadcast as numpy does: what their tactics share.
#pragma once

#include "backends/cpu/gemm/matrix_rows.h"

namespace tenfold::backends::cpu {

// Whether extents and strides are those of stacks: rows contiguous, rows of the result at one distance.
Verdict matmul_stacks_supported(const Problem& problem);
ir::Dim matmul_stacked(const OperandDesc& operand);   // how many matrices
// The matrix of an operand that matrix number `matrix` of the result takes: its number (`count`) or its element offset.
std::int64_t matmul_matrix_of(const Bound& operand, const Bound& y, std::int64_t matrix, bool count) noexcept;
double matmul_stacks_work(const Problem& problem);

}  // namespace tenfold::backends::cpu
