// If: the condition and what both branches capture.
#include "onnx_ops/ai_onnx/control_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  return add_control(call, import_bodies(call, {"then_branch", "else_branch"}, {{}, {}}), {call.given(0)}, {});
}

}  // namespace

OnnxOp onnx_ai_onnx_if() { return {.name = "If", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
