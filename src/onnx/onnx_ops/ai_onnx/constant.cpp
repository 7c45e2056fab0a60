// Constant: a constant of the graph; no node remains.
#include <algorithm>

#include "onnx_ops/onnx_node.h"

namespace tenfold::onnx_ops {
namespace {

template <class T>
Tensor list(DType dtype, const std::vector<T>& values, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
  return tensor;
}

Tensor value_of(const Attributes& attributes) {
  auto extent = [](const auto& values) { return Shape{static_cast<std::int64_t>(values.size())}; };
  if (attributes.has("value")) return attributes.tensor("value");
  if (attributes.has("sparse_value")) return attributes.tensor("sparse_value");   // the importer has made it dense
  if (attributes.has("value_int")) return list(DType::i64, Ints{attributes.integer("value_int")}, {});
  if (attributes.has("value_float")) return list(DType::f32, Floats{attributes.number("value_float")}, {});
  if (attributes.has("value_ints")) return list(DType::i64, attributes.ints("value_ints"), extent(attributes.ints("value_ints")));
  if (attributes.has("value_floats")) return list(DType::f32, attributes.floats("value_floats"), extent(attributes.floats("value_floats")));
  if (attributes.has("value_string")) return Tensor::strings({}, {attributes.string("value_string")});
  validate(attributes.has("value_strings"),
           "none of the attributes that give a constant its value is there: value, value_floats and so on");
  return Tensor::strings(extent(attributes.strings("value_strings")), attributes.strings("value_strings"));
}

std::vector<Value*> from_1(OnnxImport& import) {
  return {import.graph().add_constant(value_of(import.attributes), import.output_names.empty() ? "" : import.output_names[0])};
}

}  // namespace

OnnxOp onnx_ai_onnx_constant() { return {.name = "Constant", .forms = {{1, from_1}}}; }

}  // namespace tenfold::onnx_ops
