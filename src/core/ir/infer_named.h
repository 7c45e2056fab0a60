// Types of a node that stands in a graph, inferred again: what the node has against them names it.
#pragma once

#include "ir/graph.h"

namespace tenfold::ir {

// The importer, which knows a model's own names of nodes, asks Graph::infer(). All others, who infer nodes again once extents are known,
// ask this.
void infer_named(Graph& graph, Node& node);

}  // namespace tenfold::ir
