// Products of dequantized operands as products of 8 bits: what fold_qdq, fold_qdq_for_gpu and fold_float8 do, each for one kind of product.
#pragma once

#include "passes/pass.h"
#include "passes/precision/qdq.h"

namespace tenfold::passes {

// integers: all that the CPU multiplies. tensor_integers: what tensor cores take. float8: e4m3, for tensor cores.
enum class NarrowProducts { integers, tensor_integers, float8 };

// Whether tensor cores multiply the operands of a MatMul or Conv in 8 bits. They read 16 elements at once; a first layer's few channels
// are better off as floats.
bool fits_tensor_cores(const ir::Node& node);

// A product or convolution of a dequantized activation with dequantized constant weights becomes one of 8 bits; scales and bias follow it
// as pointwise operators.
bool fold_gemms(ir::Graph& graph, NarrowProducts kind);

}  // namespace tenfold::passes
