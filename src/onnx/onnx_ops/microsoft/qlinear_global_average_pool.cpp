// QLinearGlobalAveragePool: GlobalAveragePool of floats between DequantizeLinear and QuantizeLinear.
#include "onnx_ops/microsoft/qlinear_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return rounded(call, one(call, "GlobalAveragePool", {real(call, 0)}, channels_first(call)), 3);
}

}  // namespace

OnnxOp onnx_microsoft_qlinear_global_average_pool() {
  return {.name = "QLinearGlobalAveragePool", .forms = {{1, from_1}}};
}

}  // namespace tenfold::onnx_ops
