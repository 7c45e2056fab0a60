// Operands that are attributes in the graph wherever they are known when building.
#pragma once

#include "onnx_ops/onnx_node.h"
#include "ops/reduce/reduce_common.h"

namespace tenfold::onnx_ops {

// A reduction whose axes are operand 1.
std::vector<Value*> from_axes_input(OnnxImport& node);
// A running sum or product whose axis is operand 1.
std::vector<Value*> from_axis_input(OnnxImport& node);

}  // namespace tenfold::onnx_ops
