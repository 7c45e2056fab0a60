// SVMRegressor: kernels of support vectors, weighted; or one product with coefficients.
#include <algorithm>

#include "ops/ml/trees_common.h"
#include "ops/ml/vector_machine_common.h"

namespace tenfold::ir {
namespace {

struct Model {
  Floats weights, vectors;
  std::int64_t count, features;   // count 0: the weights are the only vector
  double offset;
  ops::VectorKernel kernel;

  explicit Model(const Attributes& a) : count(a.integer("n_supports")), kernel(a, count == 0) {
    for (const char* needed : {"coefficients", "rho"}) validate(a.has(needed), "attribute '", needed, "' is missing");
    weights = a.floats("coefficients");
    validate(!weights.empty() && !a.floats("rho").empty(), "coefficients or rho is empty");
    offset = static_cast<double>(a.floats("rho")[0]);
    supported(a.string("post_transform") == "NONE", "post_transform '", a.string("post_transform"), "' of an SVMRegressor");
    vectors = count == 0 ? weights : a.has("support_vectors") ? a.floats("support_vectors") : Floats();
    const auto size = static_cast<std::int64_t>(vectors.size());
    validate(count >= 0 && size > 0 && size % std::max<std::int64_t>(count, 1) == 0, "support_vectors has ", size, " numbers for ", count,
             " vectors");
    validate(count == 0 || static_cast<std::int64_t>(weights.size()) == count, weights.size(), " coefficients for ", count, " vectors");
    features = size / std::max<std::int64_t>(count, 1);
  }
  double value(const double* x) const {
    if (count == 0) return kernel(x, vectors.data(), features) + offset;
    double sum = offset;
    for (std::int64_t i = 0; i < count; ++i)
      sum += static_cast<double>(weights[static_cast<std::size_t>(i)]) * kernel(x, vectors.data() + i * features, features);
    return sum;
  }
};

void infer(InferCall& call) {
  const Model model(call.attributes());
  ops::infer_rows(call, 0, DType::f32, 1);
}

void on_values(ValueCall& call) {
  const Model model(call.attributes());
  const bool one_class = call.attributes().integer("one_class") != 0;
  std::int64_t rows = 0, columns = 0;
  const std::vector<double> x = ops::rows_of(call, 0, model.features, rows, columns);
  call.check_shape(columns == model.features, "rows have ", columns, " features, ", model.features, " expected");
  Tensor y(DType::f32, {rows, 1});
  for (std::int64_t r = 0; r < rows; ++r) {
    const double value = model.value(x.data() + r * columns);
    y.mutable_data<float>()[r] = static_cast<float>(one_class ? (value > 0 ? 1 : -1) : value);
  }
  call.give(0, y);
}

}  // namespace

OpDef op_svm_regressor() {
  return {.name = "SVMRegressor",
          .types = "f32|f64|i32|i64 -> f32",
          .attributes = {{"kernel_type", "LINEAR"}, {"n_supports", 0}, {"one_class", 0}, {"post_transform", "NONE"}},
          .optional_attributes = "coefficients: floats, kernel_params: floats, rho: floats, support_vectors: floats",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "kernels of support vectors are computed by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
