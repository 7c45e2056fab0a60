// Graphs of control flow that runs on the host because it cannot be a program: kept in a step's attributes as text and constants.
#pragma once

#include "ir/op_def.h"

namespace tenfold::builder {
void store_graphs(const ir::Node& node, ir::Attributes& attributes);
}
