// Where a plain f32 graph gets QuantizeLinear and DequantizeLinear, so that its products become products of 8 bits.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/op_def.h"
#include "quant/calibrator.h"

namespace tenfold::quant {

// Ranges of values, by name.
using Ranges = std::map<std::string, Range, std::less<>>;

// What a device gains by.
struct Placing {
  bool zero_points = true;   // values of both signs are u8 with a zero point; otherwise i8 around zero
  std::function<bool(const ir::Node& product)> takes = {};   // whether it multiplies these in 8 bits; null: all
};

// Whether a node's results are elements of operand 0 (of a Concat: of all its operands), so that they have its quantisation.
bool passes_on(const ir::Node& node);
bool passes_on_from(const ir::Node& node, std::size_t operand);

// The values that placing asks ranges of: data operands of convolutions and of products with constant weights, f32 all of them. Of a
// value that only moves elements, those that they come from are named, too.
std::set<std::string> values_to_observe(const ir::Graph& graph, const Placing& placing);

// The products that place_qdq() gives 8 bits, in the order of the graph.
std::vector<const ir::Node*> products_to_quantise(const ir::Graph& graph, const Ranges& ranges, const Placing& placing);

// Gives each such value that has a range one QuantizeLinear and DequantizeLinear, and constant weights the same with a scale for each
// output channel. Concat and what only moves elements pass their parameters on to their operands. An operand of an Add whose sum becomes
// 8 bits, too, is read as 8 bits. A refit leaves such weights alone. True if
// anything changed. Values without a range stay as they are.
bool place_qdq(ir::Graph& graph, const Ranges& ranges, const Placing& placing);

}  // namespace tenfold::quant
