// The recipes of a plan for the plan that re-tuning makes of it: the same, with other constants behind the results.
#include "builder/refit/refit_recorder.h"

#include "base/check.h"
#include "ir/recipe.h"
#include "ir/text.h"

namespace tenfold::builder {

plan::Refit rebase(const plan::Refit& old, const std::vector<SharedConstant>& origins, const ir::Registry& registry) {
  std::vector<SharedConstant> constants;
  for (const Tensor& t : old.tensors) constants.push_back(std::make_shared<ir::Constant>(ir::Constant{.tensor = t}));
  ir::Graph graph = ir::parse_graph(old.recipes, registry, {.constants = &constants});
  require(graph.outputs.size() == old.results.size(), ErrorKind::plan_refused, "the plan's recipes have ", graph.outputs.size(),
          " results for ", old.results.size(), " constants");
  std::map<std::string, ir::Value*> made;
  for (std::size_t i = 0; i < old.results.size(); ++i) made[old_constant_name(old.results[i])] = graph.outputs[i];
  plan::Refit refit{.weights = old.weights, .recipes = {}, .results = {}, .tensors = {}};
  graph.outputs.clear();
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (!origins[i]) continue;
    graph.outputs.push_back(made.at(ir::weight_of(*origins[i])->name));
    refit.results.push_back(static_cast<std::int32_t>(i));
  }
  constants.clear();
  refit.recipes = ir::print(graph, {.constants = &constants});
  for (const SharedConstant& c : constants) refit.tensors.push_back(c->tensor);
  for (plan::RefitWeight& w : refit.weights) {
    if (w.original < 0) continue;
    refit.tensors.push_back(old.tensors[static_cast<std::size_t>(w.original)]);
    w.original = static_cast<std::int32_t>(refit.tensors.size() - 1);
  }
  return refit;
}

}  // namespace tenfold::builder
