// Products with dequantized constants that stay narrow: what fuse_block_scaled and fuse_block_scaled_fp4 share.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

enum class Narrow : std::uint8_t { integers, fp4 };   // of 4 and 8 bits; e2m1

// Makes a MatMulBlockScaled of a MatMul whose second operand is a dequantized constant of that form; false: it is none.
bool fuse_block_scaled(ir::Graph& graph, ir::Node& node, Narrow form);

}  // namespace tenfold::passes
