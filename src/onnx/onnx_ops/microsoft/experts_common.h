// A mixture of experts: small networks of two layers, of which each token has the best few.
#pragma once

#include "onnx_ops/convert_common.h"

namespace tenfold::onnx_ops {

// Weights [experts, outputs, inputs] and biases [experts, outputs]; null: none.
struct Layer {
  Value *weights = nullptr, *bias = nullptr;
};
// Operand 0 are tokens [.., inputs], operand 1 the router's scores [tokens, experts]. `mix`: scores that weigh what the best experts say,
// in place of the softmax by which these are chosen; or null. All experts are computed for each token: exact, and quick for few experts
// alone.
std::vector<Value*> mixed_experts(OnnxImport& call, Layer first, Layer second, Layer gate, Value* mix);

}  // namespace tenfold::onnx_ops
