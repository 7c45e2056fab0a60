// Graphs of a loop that runs on the host: kept in a step's attributes as text and constants, until loops have programs.
#pragma once

#include "ir/op_def.h"

namespace tenfold::builder {
void store_graphs(const ir::Node& node, ir::Attributes& attributes);
}
