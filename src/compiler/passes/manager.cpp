// Running passes: bodies first, then the graph, with the sweep, the sort and the checks that every pass relies on.
#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "ir/check_types.h"
#include "ir/lineage.h"
#include "passes/pass.h"
#include "tenfold/internal/interrupts.h"

namespace tenfold::passes {
namespace {

// The types that readers outside the graph rely on.
std::vector<ir::ValueType> result_types(const ir::Graph& graph) {
  std::vector<ir::ValueType> types;
  for (const ir::Value* v : graph.outputs) types.push_back(v->type);
  return types;
}
void check_results(const ir::Graph& graph, const std::vector<ir::ValueType>& before) {
  check(graph.outputs.size() == before.size(), "the graph has ", graph.outputs.size(), " outputs, it had ", before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const ir::Value& v = *graph.outputs[i];
    check(ir::may_be_the_same(v.type, before[i]), "output '", v.name, "' is ", ir::text(v.type), ", it was ", ir::text(before[i]));
  }
}

bool run_one(ir::Graph& graph, const Pass& pass) {
  bool changed = false;
  const std::vector<ir::ValueType> before = result_types(graph);
  if (pass.bodies)
    for (const auto& node : graph.nodes())
      for (const auto& body : node->graphs) changed = run_one(*body, pass) || changed;
  changed = pass.run(graph) || changed;
  graph.sweep();
  graph.sort();
  check_results(graph, before);
  ir::finalize_names(graph, pass.name);
  return changed;
}

bool checks_types() {
  const char* text = std::getenv("TENFOLD_CHECK_TYPES");
  return text && std::string_view(text) != "0";
}

}  // namespace

Pass find_pass(std::string_view name) {
  static const std::vector<Pass> all = all_passes();
  for (const Pass& p : all)
    if (p.name == name) return p;
  std::string names;
  for (const Pass& p : all) names += (names.empty() ? "" : ", ") + p.name;
  fail(ErrorKind::invalid_argument, cat("there is no pass '", name, "'; there are ", names));
}

void run(ir::Graph& graph, const std::vector<Pass>& passes, const RunOptions& options) {
  const bool all_types = checks_types();
  for (const Pass& pass : passes) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end()) continue;
    throw_if_cancelled();
    try {
      const bool changed = run_one(graph, pass);
      ir::verify(graph);
      if (changed && all_types) ir::check_types(graph);
      if (changed && options.changed) options.changed(pass.name, graph);
    } catch (Error& e) {
      if (e.kind() != ErrorKind::internal) throw e.within("pass '" + pass.name + "'");
      fail(e.kind(), cat("pass '", pass.name, "': ", e.what(), "; this is a mistake of the pass: without it ",
                         "(BuildConfig::disabled_passes, --disablePasses=", pass.name, ") the model may build"));
    }
  }
}

}  // namespace tenfold::passes
