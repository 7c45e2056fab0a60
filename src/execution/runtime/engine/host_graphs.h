// Control flow that runs on the interpreter: their graphs are read back from the step's attributes, and the interpreter runs them.
#pragma once

#include "ops/interpret.h"

namespace tenfold::runtime {

// Takes the graphs out of node.attributes, where builder/program/host_graphs.cpp put them, into node.graphs.
void load_graphs(ir::Node& node, const ir::Registry& registry);
// The operand as a tensor that does not own its bytes; nothing if it is left out.
ops::RuntimeValue borrowed(const ir::TensorRef& operand);
// Runs the node's control flow on the call's operands and copies the results into the call's outputs. Throws.
void run_graphs(ir::Call& call);

}  // namespace tenfold::runtime
