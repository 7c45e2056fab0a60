// Unique of ONNX Runtime: in the order of the elements; their places of first occurrence are no result.
#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

std::vector<Value*> from_1(OnnxImport& call) {
  const std::vector<Value*> all = call.add("Unique", {call.given(0)}, {{"sorted", 0}}, 4);
  return {all[0], all[2], all[3]};
}

}  // namespace

OnnxOp onnx_microsoft_unique() { return {.name = "Unique", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
