// Assembling: Graph + Choice -> the steps, buffers and constants of a plan.
#pragma once

#include <set>

#include "backends/backend.h"
#include "builder/program/constant_pool.h"
#include "ir/op_def.h"
#include "plan/plan.h"
#include "tune/choice/choice.h"

namespace tenfold::builder {

struct AssembleOptions {
  std::vector<plan::Range> box;            // of the input symbols, with the tuned point
  backends::Backend* backend = nullptr;
  std::set<const ir::Node*> precomputed = {};    // what comes first: passes::precomputed_nodes()
  bool is_body = false;                    // of a branch or a loop
};

// The ranges of a graph's symbols and of those that only its bodies know.
ir::SymbolBounds all_bounds(const ir::Graph& graph);

// One program for one box. `graph` must be the one that `choice` was made for.
plan::Program assemble(const ir::Graph& graph, const tune::Choice& choice, ConstantPool& constants, const AssembleOptions& options,
                       std::uint32_t& needs);

}  // namespace tenfold::builder
