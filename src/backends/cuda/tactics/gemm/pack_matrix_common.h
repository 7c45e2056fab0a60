// Constant weights of products as [n, k]: rows along k, as tensor cores and libraries want them.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

std::int64_t packed_matrix_bytes(const Problem& p, const Config& c, int input);  // -1 unless input 1 is one constant matrix
void pack_matrix(const Problem& p, const Config& c, int input, std::span<const Tensor* const> constants, void* packed);
Tensor unpack_matrix(const Problem& p, const Config& c, int input, const void* packed);

// One matrix alone, as pack_matrix lays it, and back.
void pack_one(const OperandDesc& matrix, const void* from, void* packed);
Tensor unpack_one(const OperandDesc& matrix, const void* packed);

}  // namespace tenfold::backends::cuda
