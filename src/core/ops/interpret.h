// Runs nodes and graphs with the reference kernels: constant folding, the truth in tests, `compare`. Slow and obviously right.
#pragma once

#include <vector>

#include "ir/op_def.h"

namespace tenfold::ops {

using tenfold::RuntimeValue;

// Runs one node on concrete operands. `node` gives attributes, body and graphs; operand shapes decide the output shapes
// (they are inferred afresh from the operands, so symbolic types in the node do not matter).
std::vector<RuntimeValue> run_node(const ir::Node& node, const std::vector<RuntimeValue>& operands);

// Runs a graph. `inputs` in the order of graph.inputs. `watch`, if given, sees every value as it is made.
using Watch = std::function<void(const ir::Value&, const RuntimeValue&)>;
std::vector<RuntimeValue> run_graph(const ir::Graph& graph, const std::vector<RuntimeValue>& inputs, const Watch& watch = {});

}  // namespace tenfold::ops
