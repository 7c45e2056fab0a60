// Channels of products' data operands, scaled so that one range serves all of them: exact in floats, for weights take the inverse.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenfold::quant {

// What makes a value's channels and can be made to make them scaled, for nobody else reads it.
enum class MadeBy {
  other,
  product,   // its weights, through functions that scale with their operand (Relu, means, maxima)
  norm,      // its scale and bias
};
MadeBy made_by(const ir::Graph& graph, const ir::Value& value);

// What a value is called where its channels are scaled. `made_by` other: a Mul makes it.
std::string scaled_name(const ir::Value& value);

// Factors by name of the value, one for each channel. Names without a product that reads them are passed over.
bool scale_channels(ir::Graph& graph, const std::map<std::string, std::vector<float>, std::less<>>& factors);

}  // namespace tenfold::quant
