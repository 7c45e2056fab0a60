// The newest row: where windows slide by one row, what depends on the rows before it is computed apart from it.
//
// before: (x f32[1,50,8], w f32[1,16,8]!, r f32[1,16,4]!)
//   t = Transpose(x) perm=[1,0,2]
//   y, h = LSTM(t, w, r)                      the state behind row 49
// after:
//   past = Slice(x, 0, 49, 1)                 early: the next window's first rows are there one row before its last
//   newest = Slice(x, 49, 50, 1)
//   y0, h0, c0 = LSTM(Transpose(past), w, r)  early
//   y1, h = LSTM(Transpose(newest), w, r, h0, c0)
#pragma once

#include <set>
#include <string>

#include "passes/pass.h"

namespace tenfold::passes {

struct NewestRow {
  std::string input;
  int axis = 0;
};
// "x:1". Throws invalid_argument where it is anything else.
NewestRow parse_newest_row(const std::string& text);

// Divides each value along the rows: into what the past rows give, and what the newest row adds. Throws invalid_argument for an input or
// axis that is none, and unsupported, naming a node, where nothing can be computed early.
void split_newest_row(ir::Graph& graph, const NewestRow& row);
Pass pass_split_newest_row(const std::string& row);   // "x:1"

// The nodes that need neither the newest row nor another input than that of the rows. Those that give outputs of the graph are none.
std::set<const ir::Node*> precomputed_nodes(const ir::Graph& graph, const NewestRow& row);

}  // namespace tenfold::passes
