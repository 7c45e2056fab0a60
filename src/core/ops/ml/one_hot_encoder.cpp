// OneHotEncoder: a row for each element, 1 where its category stands and 0 elsewhere.
#include "ops/ml/labels_common.h"

namespace tenfold::ir {
namespace {

Tensor categories_of(const Attributes& a) { return ops::class_labels(a, "cats_int64s", "cats_strings"); }

void infer(InferCall& call) {
  const Tensor categories = categories_of(call.attributes());
  call.validate((call.dtype(0) == DType::string) == (categories.dtype() == DType::string), "operand 0 is ", name(call.dtype(0)),
             ", the categories are ", name(categories.dtype()));
  Dims dims = call.dims(0);
  dims.push_back(categories.size());
  call.out(0, DType::f32, dims);
}

void on_values(ValueCall& call) {
  const Tensor categories = categories_of(call.attributes());
  const Tensor& x = call.tensor(0);
  Shape shape = x.shape();
  shape.push_back(categories.size());
  Tensor y(DType::f32, shape);
  const ops::KeyPlaces places(categories, x.dtype());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t at = places.find(x, i);
    call.check_shape(at >= 0 || call.attributes().integer("zeros") != 0, "element ", i,
              " is none of the categories, and zeros = 0 allows no others");
    if (at >= 0) y.mutable_data<float>()[i * categories.size() + at] = 1;
  }
  call.give(0, y);
}

}  // namespace

OpDef op_one_hot_encoder() {
  return {.name = "OneHotEncoder",
          .types = "string|i64|i32|f32|f64 -> f32",
          .attributes = {{"zeros", 1}},
          .optional_attributes = "cats_int64s: ints, cats_strings: strings",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "tables of labels are read by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
