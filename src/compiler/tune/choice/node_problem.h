// The Problem of a graph node, in given layouts, symbolic or at one point of its box.
#pragma once

#include "backends/tactic.h"
#include "ir/op_def.h"

namespace tenfold::tune {

// `formats` null: everything plain. References into node, box and device, which must outlive the result.
backends::Problem node_problem(const ir::Node& node, const backends::Formats* formats, const ir::SymbolBounds& box,
                               const backends::DeviceInfo& device, std::int64_t workspace_limit);
// Do the operands' extents suit each other and the results' at this point? Sizes found in the run get values by guess, which may contradict
// a weight.
bool agrees_at(const ir::Node& node, const ir::SymbolValues& point);
// The same problem with every dim evaluated at a point.
backends::Problem at_point(backends::Problem problem, const ir::SymbolValues& point);

}  // namespace tenfold::tune
