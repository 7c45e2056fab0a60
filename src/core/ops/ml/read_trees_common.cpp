// From lists of attributes to trees. Every index is compared with the list that it points into.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/check.h"
#include "ir/fault.h"
#include "ops/ml/trees_common.h"

namespace tenfold::ops {
namespace {

using ir::Ints;
using ir::validate;

template <class List>
void expect_size(const List& list, std::size_t size, const std::string& name) {
  validate(list.size() == size, "attribute '", name, "' has ", list.size(), " entries, ", size, " expected");
}

std::size_t within(std::int64_t index, std::size_t size, const char* what) {
  validate(index >= 0 && static_cast<std::size_t>(index) < size, what, " ", index, " of ", size);
  return static_cast<std::size_t>(index);
}

std::vector<double> numbers(const ir::Attributes& attributes, const std::string& name) {
  std::vector<double> values;
  if (!attributes.has(name)) return values;
  const Tensor& t = attributes.tensor(name);
  validate(t.dtype() != DType::string, "attribute '", name, "' holds strings");
  for (std::int64_t i = 0; i < t.size(); ++i) values.push_back(t.as_double(i));
  return values;
}

// Sets of members, one for each node that asks for one, in order; NaN ends each.
std::vector<std::set<double>> read_sets(const std::vector<double>& values) {
  std::vector<std::set<double>> sets;
  bool open = false;
  for (double v : values) {
    if (!open) sets.emplace_back(), open = true;
    if (std::isnan(v)) open = false;
    else sets.back().insert(v);
  }
  return sets;
}

void note(Trees& trees, TreeNode node) {
  validate(node.feature >= 0 && node.feature < ir::kUnbounded, "nodes_featureids has ", node.feature);
  trees.features = std::max(trees.features, node.feature + 1);
  trees.nodes.push_back(node);
}

void give(Trees& trees, TreeLeaf& leaf, std::int64_t target, double weight) {
  within(target, static_cast<std::size_t>(trees.targets), "a leaf is about target");
  leaf.weights.emplace_back(target, weight);
  trees.all_positive = trees.all_positive && weight >= 0;
}

TreeMode mode_of(const std::string& name) {
  static constexpr std::array<std::string_view, 6> names = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                            "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  const auto* at = std::find(names.begin(), names.end(), name);
  validate(at != names.end(), "nodes_modes has '", name, "'; the standard has BRANCH_LEQ, _LT, _GTE, _GT, _EQ, _NEQ and LEAF");
  return static_cast<TreeMode>(at - names.begin());
}

}  // namespace

Trees read_trees(const ir::Attributes& a) {
  Trees trees;
  trees.targets = a.integer("n_targets");
  validate(trees.targets >= 1 && trees.targets <= ir::kUnbounded, "n_targets is ", trees.targets);
  const Ints &features = a.ints("nodes_featureids"), &yes = a.ints("nodes_truenodeids"), &no = a.ints("nodes_falsenodeids"),
             &yes_leaf = a.ints("nodes_trueleafs"), &no_leaf = a.ints("nodes_falseleafs"), &targets = a.ints("leaf_targetids");
  const Ints missing = a.ints("nodes_missing_value_tracks_true", Ints(features.size(), 0));
  const std::vector<double> splits = numbers(a, "nodes_splits"), modes = numbers(a, "nodes_modes"), weights = numbers(a, "leaf_weights");
  const std::size_t count = features.size();
  expect_size(yes, count, "nodes_truenodeids"), expect_size(no, count, "nodes_falsenodeids"),
      expect_size(yes_leaf, count, "nodes_trueleafs");
  expect_size(no_leaf, count, "nodes_falseleafs"), expect_size(splits, count, "nodes_splits"), expect_size(modes, count, "nodes_modes");
  expect_size(missing, count, "nodes_missing_value_tracks_true"), expect_size(weights, targets.size(), "leaf_weights");
  trees.sets = read_sets(numbers(a, "membership_values"));
  for (std::size_t i = 0; i < targets.size(); ++i) give(trees, trees.leaves.emplace_back(), targets[i], weights[i]);
  const auto goes_to = [&](std::int64_t id, bool leaf) {
    const std::size_t size = leaf ? trees.leaves.size() : count;
    const auto at = static_cast<std::int64_t>(within(id, size, leaf ? "a node leads to leaf" : "a node leads to node"));
    return leaf ? ~at : at;
  };
  std::int64_t sets = 0;
  for (std::size_t i = 0; i < count; ++i) {
    validate(modes[i] >= 0 && modes[i] <= 6, "nodes_modes has ", modes[i], ", 0 to 6 expected");
    TreeNode node{static_cast<TreeMode>(modes[i]), missing[i] != 0, features[i], splits[i]};
    if (node.mode == TreeMode::member)
      node.set = static_cast<std::int64_t>(within(sets++, trees.sets.size(), "membership_values has no set for member node"));
    node.when_true = goes_to(yes[i], yes_leaf[i] != 0), node.when_false = goes_to(no[i], no_leaf[i] != 0);
    note(trees, node);
  }
  for (std::int64_t root : a.ints("tree_roots"))
    trees.roots.push_back(static_cast<std::int64_t>(within(root, count, "a tree's root is node")));
  return trees;
}

Trees read_old_trees(const ir::Attributes& a, const std::string& prefix, std::int64_t targets) {
  Trees trees;
  trees.targets = targets;
  const Ints &tree_ids = a.ints("nodes_treeids"), &ids = a.ints("nodes_nodeids"), &features = a.ints("nodes_featureids"),
             &yes = a.ints("nodes_truenodeids"), &no = a.ints("nodes_falsenodeids");
  const Ints missing = a.ints("nodes_missing_value_tracks_true", Ints(ids.size(), 0));
  const ir::Strings& modes = a.strings("nodes_modes");
  const std::vector<double> splits = floats_of(a, "nodes_values");
  const std::size_t count = ids.size();
  expect_size(tree_ids, count, "nodes_treeids"), expect_size(features, count, "nodes_featureids"),
      expect_size(yes, count, "nodes_truenodeids");
  expect_size(no, count, "nodes_falsenodeids"), expect_size(modes, count, "nodes_modes"), expect_size(splits, count, "nodes_values");
  if (!missing.empty() || count == 0) expect_size(missing, count, "nodes_missing_value_tracks_true");
  // A node or a leaf by the numbers of tree and node; those of one tree stand together, its root first.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places;
  std::set<std::int64_t> begun;
  std::int64_t nodes = 0, leaves = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t place = modes[i] == "LEAF" ? ~leaves++ : nodes++;
    validate(places.emplace(std::pair(tree_ids[i], ids[i]), place).second, "tree ", tree_ids[i], " has node ", ids[i], " twice");
    if (begun.insert(tree_ids[i]).second) trees.roots.push_back(place);
  }
  const auto find = [&](std::int64_t tree, std::int64_t id) {
    const auto at = places.find({tree, id});
    validate(at != places.end(), "tree ", tree, " has no node ", id);
    return at->second;
  };
  trees.leaves.resize(static_cast<std::size_t>(leaves));
  for (std::size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF") continue;
    note(trees, {mode_of(modes[i]), !missing.empty() && missing[i] != 0, features[i], splits[i], -1, find(tree_ids[i], yes[i]),
                 find(tree_ids[i], no[i])});
  }
  const Ints &of_tree = a.ints(prefix + "_treeids"), &of_node = a.ints(prefix + "_nodeids"), &target = a.ints(prefix + "_ids");
  const std::vector<double> weights = floats_of(a, prefix + "_weights");
  expect_size(of_node, of_tree.size(), prefix + "_nodeids"), expect_size(target, of_tree.size(), prefix + "_ids");
  expect_size(weights, of_tree.size(), prefix + "_weights");
  for (std::size_t i = 0; i < of_tree.size(); ++i) {
    const std::int64_t place = find(of_tree[i], of_node[i]);
    validate(place < 0, prefix, "_nodeids names node ", of_node[i], " of tree ", of_tree[i], ", which is no leaf");
    give(trees, trees.leaves[static_cast<std::size_t>(~place)], target[i], weights[i]);
  }
  return trees;
}

}  // namespace tenfold::ops
