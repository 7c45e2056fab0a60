// Cutting fused nodes: an epilogue stays on its anchor, and merged products stay one, only where that is not slower.
#pragma once

#include "tune/choice/candidates.h"

namespace tenfold::tune {

// Splits `node` into its anchor and a Region if that is faster, or if no tactic runs the two together. True if it was cut.
bool unfuse_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates);
// Takes a product whose columns are split at once apart into one product for each piece, if that is faster. True if it did: the node
// and the Split are then gone.
bool unmerge_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates);
// Takes a fused operator that wants to be autotuned (OpTraits::autotuned) apart into its decomposition, if that is faster. True if it did.
bool decompose_if_better(ir::Graph& graph, ir::Node& node, Candidates& candidates);

std::int64_t best(const std::vector<Candidate>& candidates);   // the least time among them
// A cut must win clearly: noise cuts too, and fusing saves traffic that timing alone does not see.
inline bool clearly_better(std::int64_t apart, std::int64_t together) { return together > apart + apart / 8; }
inline std::int64_t largest_apart(std::int64_t together) { return together / 9 * 8 + 8; }  // above it, never clearly better

}  // namespace tenfold::tune
