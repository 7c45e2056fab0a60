// TreeEnsembleRegressor: sums over decision trees, one for each target.
#include <algorithm>
#include <array>

#include "ops/ml/transform_common.h"
#include "ops/ml/trees_common.h"

namespace tenfold::ir {
namespace {

ops::Aggregate aggregate_of(const std::string& name) {
  static constexpr std::array<std::string_view, 4> names = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* at = std::find(names.begin(), names.end(), name);
  validate(at != names.end(), "aggregate_function is '", name, "'; the standard has AVERAGE, SUM, MIN and MAX");
  return static_cast<ops::Aggregate>(at - names.begin());
}

std::vector<double> base_of(const Attributes& a, std::int64_t targets) {
  std::vector<double> base = ops::floats_of(a, "base_values");
  validate(base.size() <= 1 || base.size() == static_cast<std::size_t>(targets), "base_values has ", base.size(), " entries for ", targets,
        " targets");
  return base;
}

ops::Trees trees_of(const Attributes& a) {
  const std::int64_t targets = a.integer("n_targets");
  validate(targets >= 1 && targets <= kUnbounded, "n_targets is ", targets);
  return ops::read_old_trees(a, "target", targets);
}

void infer(InferCall& call) {
  const Attributes& a = call.attributes();
  const ops::Trees trees = trees_of(a);
  base_of(a, trees.targets), aggregate_of(a.string("aggregate_function")), ops::post_transform(a.string("post_transform"));
  ops::infer_rows(call, 0, DType::f32, trees.targets);
}

void on_values(ValueCall& call) {
  const Attributes& a = call.attributes();
  const ops::Trees trees = trees_of(a);
  const std::vector<double> base = base_of(a, trees.targets);
  const ops::Aggregate how = aggregate_of(a.string("aggregate_function"));
  const ops::PostTransform post = ops::post_transform(a.string("post_transform"));
  std::int64_t rows = 0, columns = 0;
  const std::vector<double> x = ops::rows_of(call, 0, trees.features, rows, columns);
  Tensor y(DType::f32, {rows, trees.targets});
  float* to = y.mutable_data<float>();
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> scores = trees.scores(x.data() + r * columns, how, base);
    ops::transform(scores, post);
    to = std::transform(scores.begin(), scores.end(), to, [](double s) { return static_cast<float>(s); });
  }
  call.give(0, y);
}

}  // namespace

OpDef op_tree_ensemble_regressor() {
  return {.name = "TreeEnsembleRegressor",
          .types = "f32|f64|i32|i64 -> f32",
          .attributes = {{"aggregate_function", "SUM"},
                         {"n_targets", 1},
                         {"nodes_falsenodeids", Ints{}},
                         {"nodes_featureids", Ints{}},
                         {"nodes_modes", Strings{}},
                         {"nodes_nodeids", Ints{}},
                         {"nodes_treeids", Ints{}},
                         {"nodes_truenodeids", Ints{}},
                         {"post_transform", "NONE"},
                         {"target_ids", Ints{}},
                         {"target_nodeids", Ints{}},
                         {"target_treeids", Ints{}}},
          .optional_attributes = "base_values: floats, base_values_as_tensor: tensor, nodes_hitrates: floats, "
                                 "nodes_hitrates_as_tensor: tensor, nodes_missing_value_tracks_true: ints, nodes_values: "
                                 "floats, nodes_values_as_tensor: tensor, target_weights: floats, target_weights_as_tensor: "
                                 "tensor",
          .infer = infer,
          .onnx_since = 1,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "trees are walked by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
