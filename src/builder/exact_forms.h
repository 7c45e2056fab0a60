// What BuildConfig switches off of the faster ways to compute f32, written at the nodes that tactics are asked for.
#pragma once

#include "ir/graph.h"
#include "tenfold/build.h"

namespace tenfold::builder {

void forbid(ir::Graph& graph, const BuildConfig& config);
// Warns of what fast_exp does not reach: attention that the model, or a plan to re-tune, holds as one operator.
void tell_of_fused_attention(const ir::Graph& graph, const BuildConfig& config);

}  // namespace tenfold::builder
