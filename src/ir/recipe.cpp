// Following recipes down to the weights.
#include "ir/recipe.h"

namespace tenfold::ir {

bool has_recipe_alone(const Constant& constant) { return constant.recipe && !constant.recipe->weight && !constant.tensor.defined(); }

bool may_change(const Constant& constant) {
  if (!constant.recipe) return false;
  if (constant.recipe->weight) return constant.recipe->weight->fixed.empty();
  for (const auto& operand : constant.recipe->operands)
    if (operand && may_change(*operand)) return true;
  return false;
}

void fix(const Constant& constant, std::string_view why) {
  if (!constant.recipe) return;
  if (Weight* weight = constant.recipe->weight.get(); weight && weight->fixed.empty()) weight->fixed = why;
  for (const auto& operand : constant.recipe->operands)
    if (operand) fix(*operand, why);
}

}  // namespace tenfold::ir
