// GridSample as ONNX had it before opset 20, and as ONNX Runtime has it.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

std::vector<Value*> grid_sample_of_images(OnnxImport& call);   // its modes are named after two dims

}  // namespace tenfold::onnx_ops
