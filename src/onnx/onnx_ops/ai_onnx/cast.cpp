// Cast: the type is a number in ONNX; 8-bit floats without saturation, and scales, are CastF8.
#include "onnx_ops/ai_onnx/cast_common.h"
#include "ops/onnx_dtype.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_6(OnnxImport& node) { return add_cast(node, ops::dtype_from_onnx(node.attributes.integer("to"))); }

}  // namespace

OnnxOp onnx_ai_onnx_cast() { return {.name = "Cast", .forms = {{6, from_6}}}; }

}  // namespace tenfold::onnx_ops
