// Reductions over the last dims and the pointwise nodes around them as one Region: what the rules for CPUs and GPUs share.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace tenfold::passes {

struct RowChains {
  std::int64_t longest = 0;    // elements of a row
  bool pictures = false;       // of four dims and more, over several of them: they may lie channels-last
  bool halves = false;         // f16 and bf16, too; reduced in f32
  bool unknown = false;        // rows whose length only a run knows
  bool norms = false;          // softmax and norms as well, where something pointwise stands beside them
};
bool fuse_row_chains(ir::Graph& graph, const RowChains& what);

}  // namespace tenfold::passes
