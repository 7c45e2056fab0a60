// Bodies of control flow as nodes of the graph around them.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::passes {

// Copies of a body's nodes. What is constant in the body is made once, however often it is copied.
class InlinedBody {
 public:
  // Nodes come to stand in front of `owner`, which has the body.
  InlinedBody(ir::Graph& graph, ir::Node& owner, const ir::Graph& body) : graph_(graph), owner_(owner), body_(body) {}
  // The body's results where its inputs are `operands`. `names`: they are the model's values, as they are not where a body runs again.
  std::vector<ir::Value*> add(const std::vector<ir::Value*>& operands, bool names);

 private:
  ir::Graph& graph_;
  ir::Node& owner_;
  const ir::Graph& body_;
  std::unordered_map<const ir::Value*, ir::Value*> constants_;
};

// Only tensors of numbers with a known number of axes, in bodies of bodies too, and no node that stands for a branch that cannot run.
bool can_be_inlined(const ir::Graph& body);
std::size_t count_nodes(const ir::Graph& graph);   // with those of bodies
// `results` take the place of the node's, and what reads them is inferred again: shapes may be known better.
void replace_results(ir::Graph& graph, ir::Node& node, const std::vector<ir::Value*>& results);

}  // namespace tenfold::passes
