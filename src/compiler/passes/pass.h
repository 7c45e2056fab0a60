// Pass: one rule family that rewrites a graph, and the manager that runs a list of them.
//
// A pass file is passes/rules/<stem>.cpp and defines `Pass pass_<stem>()`; pipeline.cpp has their order. Its header comment
// carries a picture: `before:` and `after:` blocks in the graph's text form (and `kept:` blocks that must stay as they are), which
// tests/pictures_test.cpp parses, runs, compares, and executes on random data. See CONTRIBUTING.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::passes {

// True if it changed something. It may leave dead nodes and any order of nodes.
struct Rewrite : std::function<bool(ir::Graph& graph)> {
  using std::function<bool(ir::Graph& graph)>::function;
  Rewrite(bool (*run)(ir::Graph& graph)) : function(run) {}   // NOLINT: `run` is also the name of what runs passes
};

struct Pass {
  std::string name;
  Rewrite run = {};
  bool bodies = true;   // runs on the bodies of control flow, too
};

std::vector<Pass> all_passes();              // generated from the file names, by name
Pass find_pass(std::string_view name);       // throws invalid_argument naming what exists

struct RunOptions {
  std::vector<std::string> disabled = {};
  std::function<void(std::string_view pass, const ir::Graph& graph)> changed = {};   // after each pass that changed the graph
};
// Runs each pass on the graph and on the bodies of its control flow, then sweeps, sorts and verifies; where TENFOLD_CHECK_TYPES is set
// (tests), types too.
void run(ir::Graph& graph, const std::vector<Pass>& passes, const RunOptions& options = {});

}  // namespace tenfold::passes
