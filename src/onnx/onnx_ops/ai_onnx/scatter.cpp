// Scatter: the first name of ScatterElements.
#include "onnx_ops/onnx_op.h"

namespace tenfold::onnx_ops {
namespace {

constexpr const char* kDefinition = R"((data, indices, updates) axis=0
  y = ScatterElements(data, indices, updates) axis=@axis
  return y)";

}  // namespace

OnnxOp onnx_ai_onnx_scatter() { return {.name = "Scatter", .forms = {{9, kDefinition}}}; }

}  // namespace tenfold::onnx_ops
