// RefitRecorder: the named weights of a refittable build, and in the end how the plan's constants follow from them.
#pragma once

#include <map>

#include "builder/program/constant_pool.h"
#include "ir/op_def.h"
#include "plan/refit.h"

namespace tenfold::builder {

class RefitRecorder {
 public:
  // From here on the graph's constants know which weights they come from. Weights that can only be shapes or indices are fixed at once.
  void track(ir::Graph& graph);
  const std::vector<SharedConstant>& weights() const { return weights_; }
  // `origins`: by constant of the plan, null where no weight is behind it.
  plan::Refit write(const std::vector<SharedConstant>& origins, const ir::Registry& registry) const;

 private:
  void track(ir::Graph& graph, std::map<SharedConstant, SharedConstant>& tracked);
  SharedConstant with_weight(const SharedConstant& constant);

  std::vector<SharedConstant> weights_;    // each with the recipe of a weight; in the order of the graph
};

// Of a constant that is itself a weight.
std::shared_ptr<const ir::Recipe> weight_recipe(std::string name);

// Re-tuning runs no rules: a constant of the old plan stands for its recipe, as a weight of this name.
inline std::string old_constant_name(std::int64_t index) { return "constant " + std::to_string(index); }
// `origins` of the new plan's constants, by such weights. Throws plan_refused if the old recipes do not fit.
plan::Refit rebase(const plan::Refit& old, const std::vector<SharedConstant>& origins, const ir::Registry& registry);

}  // namespace tenfold::builder
