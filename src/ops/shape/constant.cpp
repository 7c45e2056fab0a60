// Constant: a value written in the model. Importing makes a graph constant of it; no node remains.
#include "ops/elements.h"
#include "ops/onnx_node.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Tensor& value = call.attributes().tensor("value");
  call.out(0, value.dtype(), to_dims(value.shape()));
  if ((is_integer(value.dtype()) || value.dtype() == DType::boolean) && value.size() <= kMostContents) {
    Dims contents;
    for (std::int64_t i = 0; i < value.size(); ++i) contents.push_back(value.as_int(i));
    call.out_contents(0, std::move(contents));
  }
}

void reference(Call& call) {
  const Tensor& value = call.attributes().tensor("value");
  const void* data = value.dtype() == DType::string ? static_cast<const void*>(value.string_values().data()) : value.raw();
  ops::move_elements(value.dtype(), data, 0, call.out[0].data, 0, value.size());
}

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
  if (attributes.has("value_strings"))
    return Tensor::strings(extent(attributes.strings("value_strings")), attributes.strings("value_strings"));
  fail(ErrorKind::invalid_model, "a constant without a value");
}

std::vector<Value*> from_1(OnnxImport& import) {
  return {import.graph().add_constant(value_of(import.attributes), import.output_names.empty() ? "" : import.output_names[0])};
}

}  // namespace

OpDef op_constant() {
  return {.name = "Constant", .min_inputs = 0, .max_inputs = 0, .optional_attributes = {"value"}, .infer = infer, .reference = reference,
          .from_onnx = {{"Constant", 1, from_1}}, .cases = {"value=f32[2]{1,2}", "value=i64[3]{1,-1,4}", "value=bool[]{1}"}};
}

}  // namespace tenfold::ir
