// Magnitudes: how large the numbers are that a graph adds up for each element of its results, which bounds the error that rounding may
// leave there. Of the element itself no sum that cancels can be held.
#pragma once

#include <string>
#include <vector>

#include "ops/interpret.h"

namespace tenfold::tests {

// A result in f64, and for each element the same computation with absolute values: sums, products and convolutions of |x| and |w|,
// movement of these, and of all other operators how far the result moves while each operand moves by its magnitude (in proportion: by
// `step` of it).
struct Judged {
  Tensor value, magnitude;   // f64; for integers and booleans the value alone, of their own type
};
// `inputs` in the order of graph.inputs; floats are widened to f64. Nodes that refuse f64 run in f32.
std::vector<Judged> judge(const ir::Graph& graph, const std::vector<Tensor>& inputs, double step = 1e-5);

// The first element that is further from its value than `tolerance` times its magnitude; "" if there is none. Below `min` f32 has no
// digits left: less is no difference.
std::string beyond(const Tensor& got, const Judged& expected, double tolerance, double min = 1e-37);

}  // namespace tenfold::tests
