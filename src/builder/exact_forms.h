// What BuildConfig switches off of the faster ways to compute f32, written at the nodes that tactics are asked for.
#pragma once

#include "ir/graph.h"
#include "tenfold/build.h"

namespace tenfold::builder {

void forbid(ir::Graph& graph, const BuildConfig& config);

}  // namespace tenfold::builder
