// Integers of less than 8 bits that lie in bytes.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// Operand i, whose bytes are a constant, as the integers that lie in them; as it is where it has no bytes or these have one each.
Value* unpacked(OnnxImport& call, int i, std::int64_t bits);

}  // namespace tenfold::onnx_ops
