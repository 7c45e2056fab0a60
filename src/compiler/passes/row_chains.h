// Reductions over the last dims and the pointwise nodes around them as one Region: what the rules for CPUs and GPUs share.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace tenfold::passes {

struct RowChains {
  std::int64_t longest = 0;    // elements of a row
  bool pictures = false;       // of four dims and more, over several of them: they may lie channels-last
  bool fp16 = false;         // f16 and bf16, too; reduced in f32
  bool unknown = false;        // rows whose length only a run knows
  bool repeats = false;        // casts and the like of operands that are broadcast join too, and are computed again for each element
  bool norms = false;          // softmax and norms as well, where something pointwise stands beside them
};
bool fuse_row_chains(ir::Graph& graph, const RowChains& what);

// Moves what reads `last` alone, and computes from each element of it alone, onto `same`, which has these elements in other dims. Gives the
// new value; `last` becomes what it stands for.
ir::Value* with_reader(ir::Graph& graph, ir::Value* same, ir::Value*& last);

}  // namespace tenfold::passes
