// QEmbedLayerNormalization: EmbedLayerNormalization with tables, gamma and beta in 8 bits; their scales and zero points stand behind
// the mask.
#include "onnx_ops/microsoft/embed_common.h"

namespace tenfold::onnx_ops {
namespace {

// Scales of operands 2 to 6 are operands 8 to 12, zero points 13 to 17; there are no position ids.
std::vector<Value*> from_1(OnnxImport& call) {
  return embedded(call, nullptr, [&](Value* value, int i) { return dequantized(call, value, call.given(i + 6), call.in(i + 11)); });
}

}  // namespace

OnnxOp onnx_microsoft_qembed_layer_normalization() {
  return {.name = "QEmbedLayerNormalization", .forms = {{1, from_1}}};
}

}  // namespace tenfold::onnx_ops
