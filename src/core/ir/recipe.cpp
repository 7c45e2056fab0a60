// Following recipes down to the weights.
#include "ir/recipe.h"

#include <set>

namespace tenfold::ir {
namespace {

// Is `found` true of a weight behind the constant? Each recipe is looked at once: a value that is used twice at each of many steps would
// be met as often as there are ways to it.
template <class F>
bool any_weight(const Constant& constant, F&& found) {
  if (!constant.recipe) return false;
  if (constant.recipe->weight) return found(*constant.recipe->weight);
  std::vector<const Recipe*> left{constant.recipe.get()};
  std::set<const Recipe*> seen;
  while (!left.empty()) {
    const Recipe& recipe = *left.back();
    left.pop_back();
    if (recipe.weight && found(*recipe.weight)) return true;
    for (const auto& operand : recipe.operands)
      if (operand && operand->recipe && seen.insert(operand->recipe.get()).second) left.push_back(operand->recipe.get());
  }
  return false;
}

}  // namespace

bool has_recipe_alone(const Constant& constant) { return constant.recipe && !constant.recipe->weight && !constant.tensor.defined(); }

bool may_change(const Constant& constant) {
  return any_weight(constant, [](const Weight& weight) { return weight.fixed.empty(); });
}

void fix(const Constant& constant, std::string_view why) {
  any_weight(constant, [&](Weight& weight) {
    if (weight.fixed.empty()) weight.fixed = why;
    return false;
  });
}

}  // namespace tenfold::ir
