// SimplifiedLayerNormalization: ONNX Runtime's name of RMSNormalization before opset 23, in ONNX's own domain.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, gamma) axis=-1 epsilon=1e-5 stash_type=1
  y = RMSNormalization(x, gamma) axis=@axis epsilon=@epsilon
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_simplified_layer_normalization() {
  return {.name = "SimplifiedLayerNormalization", .forms = {{1, kDefinition}}};
}

}  // namespace tenfold::onnx_ops
