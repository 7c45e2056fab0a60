// Choice: for each node of a graph the tactic, its configuration and the layouts of its operands.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::tune {

struct NodeChoice {
  const backends::Tactic* tactic = nullptr;   // null: the reference kernel, on the host, everything plain
  backends::Config config;
  backends::Formats formats;                  // one layout per operand
};

struct Candidate {
  NodeChoice choice;
  std::int64_t nanoseconds = 0;
};

// Looked up, never iterated: the order of pointers must not reach a plan.
using Choice = std::unordered_map<const ir::Node*, NodeChoice>;

// Nodes that become views, copies or programs of their own and so need no tactic.
bool is_view(const ir::Node& node);           // Reshape and its kin: the same bytes under another shape
bool is_control_flow(const ir::Node& node);
bool touches_objects(const ir::Node& node);   // reads or gives something else than ranked tensors of numbers: a step of the host
// Does the node's run decide a size, such as a Slice whose ends are data? Only reference kernels tell the size they found.
bool sizes_depend_on_data(const ir::Node& node);

}  // namespace tenfold::tune
