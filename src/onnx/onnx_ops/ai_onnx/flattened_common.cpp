// Softmax and its kin of rows of a matrix; without one where a single dim makes up the rows.
#include "onnx_ops/ai_onnx/flattened_common.h"

namespace tenfold::onnx_ops {

Value* along_rows(OnnxImport& call, const std::string& op, Value* x, std::int64_t axis) {
  supported(x->type.ranked, call.op(), " of an input whose number of dimensions is unknown");
  const auto rank = static_cast<std::int64_t>(x->rank());
  check_shape(axis >= -rank && axis <= rank, "axis ", axis, " is out of range for ", rank, " dimensions");
  if (axis < 0) axis += rank;
  std::int64_t wide = 0, last = axis;  // how many of the flattened dims are not 1, and which was the last such
  for (std::int64_t i = axis; i < rank; ++i) {
    if (x->dims()[static_cast<std::size_t>(i)] != Dim(1)) ++wide, last = i;
  }
  if (wide <= 1 && axis < rank) return call.add(op, {x}, {{"axis", last}})[0];
  Ints rows(static_cast<std::size_t>(axis), 0);
  rows.push_back(axis == rank ? 1 : -1);
  Value* shape = call.add("Shape", {x}, {})[0];
  Value* matrix = call.add("Reshape", {x, call.ints(rows)}, {})[0];
  Value* result = call.add(op, {matrix}, {{"axis", -1}})[0];
  return call.add("Reshape", {result, shape}, {})[0];
}

std::vector<Value*> from_flattened(OnnxImport& call) {
  return {along_rows(call, call.op(), call.given(0), call.attributes.integer("axis", 1))};
}

}  // namespace tenfold::onnx_ops
