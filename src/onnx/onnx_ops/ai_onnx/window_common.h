// What the windows of signals share.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The sum of (-1)^i * coefficients[i] * cos(2 * pi * i * n / period); symmetric windows end where they begin.
std::vector<Value*> window(OnnxImport& call, const std::vector<double>& coefficients);

}  // namespace tenfold::onnx_ops
