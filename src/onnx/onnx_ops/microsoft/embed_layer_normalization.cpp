// EmbedLayerNormalization: embeddings and their normalization; operand 8 are position ids.
#include "onnx_ops/microsoft/embed_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return embedded(call, call.in(8), [](Value* value, int) { return value; });
}

}  // namespace

OnnxOp onnx_microsoft_embed_layer_normalization() {
  return {.name = "EmbedLayerNormalization", .forms = {{1, from_1}}};
}

}  // namespace tenfold::onnx_ops
