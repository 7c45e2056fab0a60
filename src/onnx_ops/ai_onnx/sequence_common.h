// Sequences that import follows: what one holds is known when the model is read, so that no node on tensors waits for it.
#pragma once

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// The elements of the sequence that is operand i.
std::vector<Value*> elements(OnnxImport& call, int i);
// A number that is known now; `otherwise` where operand i is left out.
std::int64_t number(OnnxImport& call, int i, std::int64_t otherwise);
// A place among `size`, from behind if negative.
std::size_t place(OnnxImport& call, int i, std::int64_t size, std::int64_t otherwise);

}  // namespace tenfold::onnx_ops
