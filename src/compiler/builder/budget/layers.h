// What a search within an error budget decides on: layers of the model, and what a plan makes of each.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "builder/builder.h"

namespace tenfold::builder {

// A layer that computes floats, other than element by element: products, attention, recurrences, norms, reductions. Pointwise chains take
// the type of what they follow.
struct Layer {
  std::string name, op;              // of the model's node, as LayerTypes names it
  std::vector<std::string> nodes;    // of the rewritten graph, in its order; most layers have one
  double multiplications = 0;
  std::vector<DType> types;          // that it can have, the narrowest first
  std::map<DType, double> milliseconds, error;   // in each; `error` is the relative l2 of the outputs where it alone is so
};
// Two layers with nothing but pointwise operators and movement between them, and how many elements the first gives.
struct Adjacent { std::size_t from = 0, to = 0; double elements = 0; };
struct Layers {
  std::vector<Layer> list;           // in the order of the graph
  std::vector<Adjacent> adjacent;
};
// `rewritten` has the sizes that kernels are timed at.
Layers layers_of(const ir::Graph& rewritten);

// Multiplications of a product or an attention; 0 for all else, and where sizes are open.
double multiplications(const ir::Node& node);

// What a finished plan computes a layer in, and by the tuner's times how long. Steps that compute no layer count for the one before them,
// so that casts and reformats are in.
struct Computed {
  std::map<std::string, DType> types;
  std::map<std::string, double> milliseconds;
};
Computed computed_by(const Engine& engine, const BuildReport& report, const std::set<std::string>& layers);

}  // namespace tenfold::builder
