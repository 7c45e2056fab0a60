// Decision trees, as the operators of ai.onnx.ml describe them by lists: read once, walked for each row.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::ops {

enum class TreeMode : std::uint8_t { leq, lt, gte, gt, eq, neq, member };   // in the order of TreeEnsemble's numbers
enum class Aggregate : std::uint8_t { average, sum, min, max };             // likewise

struct TreeNode {
  TreeMode mode = TreeMode::leq;
  bool missing_goes_true = false;        // where the feature is no number
  std::int64_t feature = 0;
  double split = 0;
  std::int64_t set = -1;                 // member: which of Trees::sets
  std::int64_t when_true = 0, when_false = 0;   // a node, or ~i: leaf i
};
struct TreeLeaf { std::vector<std::pair<std::int64_t, double>> weights; };   // of targets

// Reading checks every index: a walk stays inside, and one that does not come to an end is refused.
struct Trees {
  std::vector<TreeNode> nodes;
  std::vector<TreeLeaf> leaves;
  std::vector<std::set<double>> sets;
  std::vector<std::int64_t> roots;       // as when_true
  std::int64_t targets = 1, features = 0;   // features: how many a row has to have
  bool all_positive = true;              // weights

  // Throws invalid_argument where a walk goes round in a circle.
  const TreeLeaf& leaf_of(std::int64_t root, const double* row) const;
  // Sums, means or extremes of what the leaves say of each target, on top of `base` (empty: 0).
  std::vector<double> scores(const double* row, Aggregate how, const std::vector<double>& base) const;
};

// TreeEnsemble's lists, and those of the regressor and the classifier before it, which call their targets `prefix` ("target", "class").
Trees read_trees(const ir::Attributes& attributes);
Trees read_old_trees(const ir::Attributes& attributes, const std::string& prefix, std::int64_t targets);

// One row after the other as doubles; throws invalid_argument unless it is a matrix of numbers with as many features.
std::vector<double> rows_of(const ir::ValueCall& call, int operand, std::int64_t features, std::int64_t& rows, std::int64_t& columns);
// A list of floats, or the tensor `name`_as_tensor in its place.
std::vector<double> floats_of(const ir::Attributes& attributes, const std::string& name);
void infer_rows(ir::InferCall& call, int result, DType dtype, std::int64_t columns);   // [rows of operand 0, columns]

}  // namespace tenfold::ops
