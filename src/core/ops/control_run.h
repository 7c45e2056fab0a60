// Runs If, Loop and Scan: chooses or repeats their closed bodies with the reference kernels.
#pragma once

#include <vector>

#include "ops/interpret.h"

namespace tenfold::ops {

// One node that owns graphs, on concrete operands (in the order of node.inputs; monostate where one is left out).
// Throws invalid_model if the bodies return something else than the operator promises.
std::vector<RuntimeValue> run_control(const ir::Node& node, const std::vector<RuntimeValue>& operands);

}  // namespace tenfold::ops
