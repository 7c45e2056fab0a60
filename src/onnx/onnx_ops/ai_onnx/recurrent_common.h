// What LSTM, GRU and RNN share.
#pragma once

#include <algorithm>

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {

// Opsets before 7 told by an attribute whether the whole sequence is wanted; now the outputs tell.
inline std::vector<Value*> from_recurrent(OnnxImport& call) {
  call.attributes.erase("output_sequence");
  return call.add(call.op(), call.inputs, call.attributes, std::max(call.outputs(), 1));
}

}  // namespace tenfold::onnx_ops
