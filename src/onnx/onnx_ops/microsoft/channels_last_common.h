// Operators whose images have their channels behind all other dims.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

Value* with_channels_first(OnnxImport& call, Value* images);   // from [n, ..., c]; of rank 3 and more
Value* with_channels_last(OnnxImport& call, Value* images);

}  // namespace tenfold::onnx_ops
