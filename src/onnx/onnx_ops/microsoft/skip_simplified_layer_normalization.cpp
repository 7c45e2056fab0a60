// SkipSimplifiedLayerNormalization: SkipLayerNormalization that leaves the mean alone.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, skip, gamma, bias?) epsilon=1e-12
  t = Add(x, skip)
  s = Add(t, bias) if bias else t
  y = RMSNormalization(s, gamma) epsilon=@epsilon
  return y, _, _, s)";

}  // namespace

OnnxOp onnx_microsoft_skip_simplified_layer_normalization() {
  return {.name = "SkipSimplifiedLayerNormalization", .forms = {{1, kDefinition}}};
}

}  // namespace tenfold::onnx_ops
