// Layouts for a whole graph: one candidate per node so that kernels plus reformats are cheapest.
#pragma once

#include <span>

#include "tune/choice/candidates.h"

namespace tenfold::tune {

// Fills `choice` for every node of `graph` that needs a tactic (views and control flow do not). Graph inputs, outputs and
// operands of control flow are plain. Returns what the nodes and reformats take, in nanoseconds.
std::int64_t choose_layouts(const ir::Graph& graph, Candidates& candidates, const TuneOptions& options, Choice& choice);

// Marks in the reports of nodes which candidates these are.
void mark_chosen(const Choice& choice, std::span<StepReport> steps);

}  // namespace tenfold::tune
