// PRelu: before opset 7 the slope was not broadcast as numpy does.
#include <algorithm>

#include "onnx_ops/ai_onnx/axis_broadcast_common.h"

namespace tenfold::onnx_ops {
namespace {

// Before opset 7 a slope of more than one element is per channel, dim 1.
std::vector<Value*> from_1(OnnxImport& node) {
  Value *x = node.given(0), *slope = node.given(1);
  const bool per_channel = slope->rank() == 1 && slope->dims()[0] != Dim(1);
  if (per_channel) slope = append_ones(node, slope, std::max(0, x->rank() - 2));
  return node.add("PRelu", {x, slope}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_prelu() { return {.name = "PRelu", .forms = {{7}, {1, from_1}}}; }

}  // namespace tenfold::onnx_ops
