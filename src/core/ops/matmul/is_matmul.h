// The family of matrix products: of floats, of 8-bit integers, of e4m3.
#pragma once

#include "ir/op_def.h"

namespace tenfold::ops {

inline bool is_matmul(const ir::Node& n) { return n.def->traits.gemm_kind == ir::GemmKind::matrix; }

}  // namespace tenfold::ops
