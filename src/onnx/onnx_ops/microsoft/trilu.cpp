// Trilu of ONNX Runtime: as ONNX has it.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) { return call.add("Trilu", call.inputs, call.attributes); }

}  // namespace

OnnxOp onnx_microsoft_trilu() { return {.name = "Trilu", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
