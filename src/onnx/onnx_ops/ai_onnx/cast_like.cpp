// CastLike: a Cast to the type of the second operand.
#include "onnx_ops/ai_onnx/cast_common.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_15(OnnxImport& node) { return add_cast(node, node.given(1)->dtype()); }

}  // namespace

OnnxOp onnx_ai_onnx_cast_like() { return {.name = "CastLike", .forms = {{15, from_15}}}; }

}  // namespace tenfold::onnx_ops
