// TreeEnsemble (ai.onnx.ml from opset 5 on): decision trees whose leaves speak of targets.
#include "base/types/element.h"
#include "ops/ml/transform_common.h"
#include "ops/ml/trees_common.h"

namespace tenfold::ir {
namespace {

void infer(InferCall& call) {
  const Attributes& a = call.attributes();
  const std::int64_t aggregate = a.integer("aggregate_function"), post = a.integer("post_transform");
  call.validate(aggregate >= 0 && aggregate <= 3, "aggregate_function is ", aggregate, ", 0 to 3 expected");
  call.validate(post >= 0 && post <= 4, "post_transform is ", post, ", 0 to 4 expected");
  ops::infer_rows(call, 0, call.dtype(0), ops::read_trees(a).targets);
}

void on_values(ValueCall& call) {
  const Attributes& a = call.attributes();
  const ops::Trees trees = ops::read_trees(a);
  std::int64_t rows = 0, columns = 0;
  const std::vector<double> x = ops::rows_of(call, 0, trees.features, rows, columns);
  Tensor y(call.tensor(0).dtype(), {rows, trees.targets});
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> scores = trees.scores(x.data() + r * columns, static_cast<ops::Aggregate>(a.integer("aggregate_function")), {});
    ops::transform(scores, static_cast<ops::PostTransform>(a.integer("post_transform")));
    for (std::int64_t t = 0; t < trees.targets; ++t)
      store_double(y.dtype(), y.mutable_raw(), r * trees.targets + t, scores[static_cast<std::size_t>(t)]);
  }
  call.give(0, y);
}

}  // namespace

OpDef op_tree_ensemble() {
  return {.name = "TreeEnsemble",
          .types = "T -> T; T: f16|f32|f64",
          .attributes = {{"aggregate_function", 1},
                         {"leaf_targetids", Ints{}},
                         {"n_targets", 1},
                         {"nodes_falseleafs", Ints{}},
                         {"nodes_falsenodeids", Ints{}},
                         {"nodes_featureids", Ints{}},
                         {"nodes_trueleafs", Ints{}},
                         {"nodes_truenodeids", Ints{}},
                         {"post_transform", 0},
                         {"tree_roots", Ints{}}},
          .optional_attributes = "leaf_weights: tensor, membership_values: tensor, nodes_hitrates: tensor, "
                                 "nodes_missing_value_tracks_true: ints, nodes_modes: tensor, nodes_splits: tensor",
          .infer = infer,
          .onnx_since = 5,
          .onnx_domain = "ai.onnx.ml",
          .on_host = "trees are walked by the host",
          .on_values = on_values};
}

}  // namespace tenfold::ir
