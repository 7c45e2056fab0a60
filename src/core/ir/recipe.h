// Recipes: where a constant of a refittable build comes from, so that a refit can make it again. No other build has any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenfold::ir {

// A named weight, shared by every constant made from it.
struct Weight {
  std::string name;
  std::string fixed;                        // why its value must stay, in words; empty: a refit may give it another
};

// Either a weight itself, or result `output` of a node whose operands are constants.
struct Recipe {
  std::shared_ptr<Weight> weight = {};
  const OpDef* def = nullptr;
  Attributes attributes = {};
  std::optional<Body> body = {};
  std::vector<std::shared_ptr<const Constant>> operands = {};   // null: left out
  int outputs = 1, output = 0;
};

// Has it a recipe of a node and no bytes? Only operands of recipes are like that.
bool has_recipe_alone(const Constant& constant);
// May a refit give the constant another value?
bool may_change(const Constant& constant);
// For whoever decides by its value: the weights behind it keep theirs. `why` ends the sentence "its value was ...".
void fix(const Constant& constant, std::string_view why);
// The weight that the constant is, null if it is none.
inline Weight* weight_of(const Constant& constant) { return constant.recipe ? constant.recipe->weight.get() : nullptr; }

}  // namespace tenfold::ir
