// QuantizeLinear and DequantizeLinear, which the domains ai.onnx and com.microsoft have with the same meaning.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// `output_dtype` is a number in ONNX, a name in the graph, empty or left out where another operand decides.
std::vector<Value*> from_quantize_linear(OnnxImport& call);
std::vector<Value*> from_dequantize_linear(OnnxImport& call);
// Operands first, first + 1 and first + 2 (integers, scale, zero point) as floats; scales lie along `axis`.
Value* dequantized_along(OnnxImport& call, int first, std::int64_t axis);
// `value` as integers by operands 6 and 7.
std::vector<Value*> requantized_along(OnnxImport& call, Value* value, std::int64_t axis);

// QLinearConv, with the node's attributes for the convolution.
std::vector<Value*> quantized_convolution(OnnxImport& call);

}  // namespace tenfold::onnx_ops
