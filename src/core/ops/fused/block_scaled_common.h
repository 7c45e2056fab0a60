// What products with weights in blocks share: MatMulBlockScaled, and NormMatMulBlockScaled.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

// Operands x [.., K], integers [K, N], scales [ceil(K / block_size), N], zero points of the scales' shape or none; the result has x's
// type.
void infer_block_scaled(ir::InferCall& call);

}  // namespace tenfold::ops
