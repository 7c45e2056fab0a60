// The family of matrix products: of floats, of 8-bit integers, of e4m3.
#pragma once

#include "ir/graph.h"

namespace tenfold::ops {

inline bool is_matmul(const ir::Node& n) { return n.op() == "MatMul" || n.op() == "MatMulInteger" || n.op() == "MatMulFloat8"; }

}  // namespace tenfold::ops
