// Walking trees, and the rows that they are asked about.
#include "ops/ml/trees_common.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tenfold::ops {
namespace {

bool holds(const TreeNode& node, double x, const std::vector<std::set<double>>& sets) {
  if (std::isnan(x)) return node.missing_goes_true;
  switch (node.mode) {
    case TreeMode::leq: return x <= node.split;
    case TreeMode::lt: return x < node.split;
    case TreeMode::gte: return x >= node.split;
    case TreeMode::gt: return x > node.split;
    case TreeMode::eq: return x == node.split;
    case TreeMode::neq: return x != node.split;
    case TreeMode::member: return sets[static_cast<std::size_t>(node.set)].count(x) > 0;
  }
  return false;
}

}  // namespace

const TreeLeaf& Trees::leaf_of(std::int64_t root, const double* row) const {
  std::int64_t at = root;
  for (std::size_t steps = 0; at >= 0; ++steps) {
    ir::validate(steps <= nodes.size(), "a tree's nodes lead back to each other");
    const TreeNode& node = nodes[static_cast<std::size_t>(at)];
    at = holds(node, row[node.feature], sets) ? node.when_true : node.when_false;
  }
  return leaves[static_cast<std::size_t>(~at)];
}

std::vector<double> Trees::scores(const double* row, Aggregate how, const std::vector<double>& base) const {
  std::vector<double> sum(static_cast<std::size_t>(targets), 0);
  std::vector<char> scored(sum.size(), 0);
  for (std::int64_t root : roots)
    for (const auto& [target, weight] : leaf_of(root, row).weights) {
      double& s = sum[static_cast<std::size_t>(target)];
      char& any = scored[static_cast<std::size_t>(target)];
      if (how == Aggregate::sum || how == Aggregate::average || !any) s += weight;
      else s = how == Aggregate::min ? std::min(s, weight) : std::max(s, weight);
      any = 1;
    }
  for (std::size_t t = 0; t < sum.size(); ++t) {
    if (how == Aggregate::average && !roots.empty()) sum[t] /= static_cast<double>(roots.size());
    if (!base.empty()) sum[t] += base[base.size() == 1 ? 0 : t];
  }
  return sum;
}

std::vector<double> rows_of(const ir::ValueCall& call, int operand, std::int64_t features, std::int64_t& rows, std::int64_t& columns) {
  const Tensor& x = call.tensor(operand);
  call.check_shape((x.rank() == 1 || x.rank() == 2) && x.dtype() != DType::string, "operand ", operand, " is ", call.in(operand).text(),
            ", a matrix of numbers expected");
  rows = x.rank() == 2 ? x.shape()[0] : 1, columns = x.shape().back();
  call.check_shape(features <= columns, "it asks for feature ", features - 1, ", rows have ", columns);
  std::vector<double> values(static_cast<std::size_t>(x.size()));
  for (std::int64_t i = 0; i < x.size(); ++i) values[static_cast<std::size_t>(i)] = x.as_double(i);
  return values;
}

std::vector<double> floats_of(const ir::Attributes& attributes, const std::string& name) {
  std::vector<double> values;
  if (const std::string tensor = name + "_as_tensor"; attributes.has(tensor)) {
    const Tensor& t = attributes.tensor(tensor);
    ir::validate(t.dtype() != DType::string, "attribute '", tensor, "' holds strings");
    for (std::int64_t i = 0; i < t.size(); ++i) values.push_back(t.as_double(i));
    return values;
  }
  if (!attributes.has(name)) return values;
  const ir::Floats& list = attributes.floats(name);
  return {list.begin(), list.end()};
}

void infer_rows(ir::InferCall& call, int result, DType dtype, std::int64_t columns) {
  call.check_shape(call.rank(0) == 1 || call.rank(0) == 2, "operand 0 has ", call.rank(0), " dims, a matrix expected");
  ir::Dims dims{call.rank(0) == 2 ? call.dims(0)[0] : ir::Dim(1)};
  if (columns >= 0) dims.push_back(columns);
  call.out(result, dtype, dims);
}

}  // namespace tenfold::ops
