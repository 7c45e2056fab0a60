// LinearClassifier: the label with the largest product of a row with coefficients, and these products.
#include <algorithm>

#include "ops/ml/labels_common.h"
#include "ops/ml/transform_common.h"
#include "ops/ml/trees_common.h"

namespace tenfold::ir {
namespace {

struct Model {
  Tensor labels;
  Floats weights, intercepts;
  std::int64_t rows, features;   // of the weights: one row, or one for each label
  bool is_pair;                  // two labels and one row
  ops::PostTransform post;

  explicit Model(const Attributes& a)
      : labels(ops::class_labels(a, "classlabels_ints", "classlabels_strings")), post(ops::post_transform(a.string("post_transform"))) {
    validate(a.has("coefficients"), "attribute 'coefficients' is missing");
    weights = a.floats("coefficients");
    intercepts = a.has("intercepts") ? a.floats("intercepts") : Floats();
    rows = static_cast<std::int64_t>(intercepts.size());
    if (rows == 0) rows = labels.size(), intercepts.resize(static_cast<std::size_t>(rows));
    const auto count = static_cast<std::int64_t>(weights.size());
    validate(rows > 0 && count > 0 && count % rows == 0, count, " coefficients for ", rows, " intercepts");
    is_pair = rows == 1 && labels.size() == 2;
    supported(is_pair || rows == labels.size(), "there are ", labels.size(), " labels for ", rows, " intercepts");
    supported(is_pair || rows > 1, "a classifier with one label");
    features = count / rows;
  }
  std::int64_t columns() const { return is_pair ? 2 : rows; }
};

void infer(InferCall& call) {
  const Model model(call.attributes());
  ops::infer_rows(call, 0, model.labels.dtype(), -1);
  ops::infer_rows(call, 1, DType::f32, model.columns());
}

// Of one product the score of the second label; the first has what is left of 1, or the logistic of its negative.
void add_first_score(std::vector<double>& scores, ops::PostTransform post) {
  const double score = scores[0];
  if (post == ops::PostTransform::logistic) scores = {ops::logistic(-score), ops::logistic(score)};
  else if (post == ops::PostTransform::probit) ops::transform(scores = {score, score}, post);
  else scores = {1 - score, score};
}

void on_values(ValueCall& call) {
  const Model model(call.attributes());
  std::int64_t rows = 0, columns = 0;
  const std::vector<double> x = ops::rows_of(call, 0, model.features, rows, columns);
  Tensor y(DType::f32, {rows, model.columns()});
  float* to = y.mutable_data<float>();
  std::vector<std::int64_t> chosen;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> scores(static_cast<std::size_t>(model.rows));
    for (std::size_t c = 0; c < scores.size(); ++c) {
      double sum = static_cast<double>(model.intercepts[c]);
      const float* const weights = model.weights.data() + static_cast<std::int64_t>(c) * model.features;
      const double* const row = x.data() + r * columns;
      for (std::int64_t f = 0; f < model.features; ++f) sum += row[f] * static_cast<double>(weights[f]);
      scores[c] = static_cast<double>(static_cast<float>(sum));
    }
    chosen.push_back(model.is_pair ? scores[0] > 0 : std::max_element(scores.begin(), scores.end()) - scores.begin());
    model.is_pair ? add_first_score(scores, model.post) : ops::transform(scores, model.post);
    to = std::transform(scores.begin(), scores.end(), to, [](double s) { return static_cast<float>(s); });
  }
  call.give(0, ops::picked(model.labels, chosen));
  call.give(1, y);
}

}  // namespace

OpDef op_linear_classifier() {
  return {.name = "LinearClassifier",
          .min_outputs = 1,
          .max_outputs = 2,
          .types = "f32|f64|i32|i64 -> string|i64, f32",
          .attributes = {{"multi_class", 0}, {"post_transform", "NONE"}},
          .optional_attributes = "classlabels_ints: ints, classlabels_strings: strings, coefficients: floats, intercepts: floats",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "labels may be strings, which a GPU has not",
          .on_values = on_values};
}

}  // namespace tenfold::ir
