// What a program's steps and operands are called in the model.
#pragma once

#include "ir/graph.h"
#include "plan/names.h"

namespace tenfold::builder {

// `program` was assembled from `graph`. A node of the model that only became a view of memory counts as removed by "view".
plan::ProgramNames names_of(const ir::Graph& graph, const plan::Program& program);

// The names of an older plan's program for its graph, which was read as text. Throws plan_refused where they do not fit together.
void adopt_names(ir::Graph& graph, const plan::Names& old, std::size_t program);

}  // namespace tenfold::builder
