// Operators of ONNX Runtime's quantizer that ONNX has no integer form of: floats between DequantizeLinear and QuantizeLinear, so that one
// path of quantization exists. Each operand comes with its scale and zero point.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// Operands first, first + 1 and first + 2 as floats.
Value* real(OnnxImport& call, int first);
// `value` as integers, by operands `scale` and scale + 1.
std::vector<Value*> rounded(OnnxImport& call, Value* value, int scale);
// The node's attributes for the graph's pooling, which has channels first.
Attributes channels_first(const OnnxImport& call);

}  // namespace tenfold::onnx_ops
