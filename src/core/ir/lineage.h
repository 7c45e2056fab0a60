// Which of the model's nodes each node of a graph stands for, kept through rewriting without the rewriters' help.
//
// Values tell: Graph::replace_uses says that one value takes another's place, so between values that were there before a rule ran, what
// died computed what the rule put there. finalize_names() works that out after a pass. Of several new nodes between the same values, one
// made by add_like stands for its original, one with the operator of a node that died for that node, and the rest go to what follows
// them. A new node to which nothing leads (a cast, a copy) stands for none of the model's.
#pragma once

#include <string_view>
#include <unordered_map>

#include "ir/graph.h"

namespace tenfold::ir {

// Starts to follow names: the model's where the graph has them, else its own. Nodes that were added to a model's since join its table;
// what is in the table and not in the graph was removed by `by`.
void start_names(Graph& graph, std::string_view by);

// After a pass: nodes that died since the last call hand what they stood for to those in their place, or it was removed by `by`.
// Bodies are settled apart.
void finalize_names(Graph& graph, std::string_view by);

// Of some sources, those from which a result is made; all of them where the result has no name of the model's.
class SourcesBehind {
 public:
  SourcesBehind(const NameTable& table, NameList sources);
  NameList of(const Value& result) const;

 private:
  const NameTable& table_;
  NameList sources_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> makers_;   // by tensor
};

}  // namespace tenfold::ir
