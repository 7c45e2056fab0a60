// SkipLayerNormalization: a residual and a bias are added, then rows are normalized. Results 1 and 2, statistics for training, are not
// computed; result 3 is the sum.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((x, skip, gamma, beta?, bias?) epsilon=1e-12
  t = Add(x, skip)
  s = Add(t, bias) if bias else t
  y = LayerNormalization(s, gamma, beta) epsilon=@epsilon
  return y, _, _, s)";

}  // namespace

OnnxOp onnx_microsoft_skip_layer_normalization() {
  return {.name = "SkipLayerNormalization", .forms = {{1, kDefinition}}};
}

}  // namespace tenfold::onnx_ops
