// ZipMap: each row of scores as a map from class labels.
#include "ops/ml/labels_common.h"

namespace tenfold::ir {
namespace {

Tensor labels_of(const Attributes& a) { return ops::class_labels(a, "classlabels_int64s", "classlabels_strings"); }

void infer(InferCall& call) {
  const Tensor labels = labels_of(call.attributes());
  call.check_shape(call.rank(0) == 1 || call.rank(0) == 2, "operand 0 has ", call.rank(0), " dims, one or two expected");
  const Dim columns = call.dims(0).back();
  call.check_shape(!columns.is_constant() || columns.constant() == labels.size(), "rows have ", columns.text(), " scores, there are ",
            labels.size(), " labels");
  call.out(0, sequence_of(map_of(labels.dtype(), {.tensor = {DType::f32, {}}})));
}

void on_values(ValueCall& call) {
  const Tensor labels = labels_of(call.attributes());
  const Tensor& x = call.tensor(0);
  call.check_shape(x.dtype() == DType::f32 && x.rank() >= 1 && x.shape().back() == labels.size(), "it has ", labels.size(), " labels for ",
            call.in(0).text());
  std::vector<RuntimeValue> maps;
  const std::int64_t rows = x.rank() == 1 ? 1 : x.shape()[0];
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<RuntimeValue> values;
    for (std::int64_t c = 0; c < labels.size(); ++c) {
      Tensor score(DType::f32, {});
      *score.mutable_data<float>() = x.data<float>()[r * labels.size() + c];
      values.emplace_back(score);
    }
    maps.push_back(RuntimeValue::map(labels, std::move(values)));
  }
  call.give(0, RuntimeValue::sequence(std::move(maps)));
}

}  // namespace

OpDef op_zip_map() {
  return {.name = "ZipMap",
          .types = "f32 -> *",
          .optional_attributes = "classlabels_int64s: ints, classlabels_strings: strings",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "a GPU has no maps",
          .on_values = on_values};
}

}  // namespace tenfold::ir
