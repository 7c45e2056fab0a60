// Pass: one rule family that rewrites a graph, and the manager that runs a list of them.
//
// A pass file is src/passes/rules/<stem>.cpp and defines `Pass pass_<stem>()`. Its header comment carries a picture:
// `before:` and `after:` blocks in the graph's text form (and `kept:` blocks that must stay as they are), which
// tests/pictures_test.cpp parses, runs, compares, and executes on random data. See CONTRIBUTING.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace tenfold::passes {

struct Pass {
  std::string name;
  bool (*run)(ir::Graph& graph) = nullptr;   // true if it changed something; may leave dead nodes and any node order
};

std::vector<Pass> all_passes();              // generated from the file names, by name
Pass find_pass(std::string_view name);       // throws invalid_argument naming what exists

// The lists of pipeline.cpp. Precision is settled between them, before products and epilogues are fused.
std::vector<Pass> canonical();
std::vector<Pass> fuse();
std::vector<Pass> canonical_for_gpu(), fuse_for_gpu();                        // after the first, after the second
std::vector<Pass> settled_for_gpu(bool own_kernels);                          // after precision; may our own kernels be chosen?
std::vector<Pass> other_form_for_gpu();                                       // after all, on a copy: the tuner compares
std::vector<Pass> fuse_for_cpu();                                             // after the second

std::vector<Pass> pack_tokens(bool with_zeros);                               // after the first, with BuildConfig::pack_tokens

struct RunOptions {
  std::vector<std::string> disabled = {};
  std::function<void(std::string_view pass, const ir::Graph& graph)> changed = {};   // after each pass that changed the graph
};
// Runs each pass on the graph and on the bodies of its control flow, then sweeps, sorts and verifies; where TENFOLD_CHECK_TYPES is set
// (tests), types too.
void run(ir::Graph& graph, const std::vector<Pass>& passes, const RunOptions& options = {});

}  // namespace tenfold::passes
