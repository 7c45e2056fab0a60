// TreeEnsembleClassifier: the label with the largest sum over decision trees, and the sums.
#include <algorithm>
#include <set>

#include "ops/ml/labels_common.h"
#include "ops/ml/transform_common.h"
#include "ops/ml/trees_common.h"

namespace tenfold::ir {
namespace {

Tensor labels_of(const Attributes& a) { return ops::class_labels(a, "classlabels_int64s", "classlabels_strings"); }

std::vector<double> base_of(const Attributes& a, std::int64_t classes) {
  std::vector<double> base = ops::floats_of(a, "base_values");
  validate(base.size() <= 1 || base.size() == static_cast<std::size_t>(classes), "base_values has ", base.size(), " entries for ", classes,
        " classes");
  return base;
}

void infer(InferCall& call) {
  const Attributes& a = call.attributes();
  const Tensor labels = labels_of(a);
  call.supported(labels.size() >= 2, "a classifier with one label");
  ops::read_old_trees(a, "class", labels.size()), base_of(a, labels.size()), ops::post_transform(a.string("post_transform"));
  ops::infer_rows(call, 0, labels.dtype(), -1);
  ops::infer_rows(call, 1, DType::f32, labels.size());
}

// Two classes of which the leaves know one: the other has what is left. ONNX Runtime's rules: weights that are all positive make
// probabilities.
std::int64_t judge_pair(std::vector<double>& scores, double one, bool probabilities, ops::PostTransform post) {
  const bool chosen = static_cast<float>(one) > (probabilities ? 0.5F : 0.0F);
  if (post == ops::PostTransform::logistic) scores = {ops::logistic(-one), ops::logistic(one)};
  else if (probabilities) scores = {1 - one, one};
  else ops::transform(scores = {-one, one}, post);
  return chosen;
}

void on_values(ValueCall& call) {
  const Attributes& a = call.attributes();
  const Tensor labels = labels_of(a);
  const ops::Trees trees = ops::read_old_trees(a, "class", labels.size());
  const ops::PostTransform post = ops::post_transform(a.string("post_transform"));
  const std::vector<double> base = base_of(a, labels.size());
  const std::set<std::int64_t> known(a.ints("class_ids").begin(), a.ints("class_ids").end());
  const bool pair = labels.size() == 2 && known.size() == 1;
  std::int64_t rows = 0, columns = 0;
  const std::vector<double> x = ops::rows_of(call, 0, trees.features, rows, columns);
  Tensor y(DType::f32, {rows, labels.size()});
  float* to = y.mutable_data<float>();
  std::vector<std::int64_t> chosen;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> scores = trees.scores(x.data() + r * columns, ops::Aggregate::sum, base);
    if (pair) {
      chosen.push_back(judge_pair(scores, scores[static_cast<std::size_t>(*known.begin())], trees.all_positive, post));
    } else {
      chosen.push_back(std::max_element(scores.begin(), scores.end()) - scores.begin());
      ops::transform(scores, post);
    }
    to = std::transform(scores.begin(), scores.end(), to, [](double s) { return static_cast<float>(s); });
  }
  call.give(0, ops::picked(labels, chosen));
  call.give(1, y);
}

}  // namespace

OpDef op_tree_ensemble_classifier() {
  return {.name = "TreeEnsembleClassifier",
          .min_outputs = 1,
          .max_outputs = 2,
          .types = "f32|f64|i32|i64 -> string|i64, f32",
          .attributes = {{"class_ids", Ints{}},
                         {"class_nodeids", Ints{}},
                         {"class_treeids", Ints{}},
                         {"nodes_falsenodeids", Ints{}},
                         {"nodes_featureids", Ints{}},
                         {"nodes_modes", Strings{}},
                         {"nodes_nodeids", Ints{}},
                         {"nodes_treeids", Ints{}},
                         {"nodes_truenodeids", Ints{}},
                         {"post_transform", "NONE"}},
          .optional_attributes = "base_values: floats, base_values_as_tensor: tensor, class_weights: floats, "
                                 "class_weights_as_tensor: tensor, classlabels_int64s: ints, classlabels_strings: strings, "
                                 "nodes_hitrates: floats, nodes_hitrates_as_tensor: tensor, nodes_missing_value_tracks_true: "
                                 "ints, nodes_values: floats, nodes_values_as_tensor: tensor",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "trees are walked by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
