// The load verifier: what must hold of a plan before any of it runs, also if it was made by an enemy with right checksums.
#pragma once

#include "backends/tactic_set.h"
#include "ir/op_def.h"
#include "plan/plan.h"

namespace tenfold::plan {

// Indices, ranges and extents lie inside what they refer to; nothing is written but the arena and the outputs; result types are
// what the operator infers; every tactic is asked again whether it supports its problem. Throws plan_refused naming the step.
// With extents_fit() at each change of shapes, a crafted plan can at worst compute nonsense.
void verify(const Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry);
// Of a plan just built, before it is handed out or saved: its metadata survive writing and reading, and it would be loaded here.
// Throws unsupported where a plan cannot hold something, else internal: the builder then made what it may not make.
void verify_built(const Plan& plan, const backends::TacticSet& tactics, const ir::Registry& registry);

}  // namespace tenfold::plan
