// Refit: how a plan's constants follow from the model's named weights. Plain data; empty unless the plan was built refittable.
#pragma once

#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::plan {

struct RefitWeight {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t hash = 0;                // XXH3 of its bytes: equal bytes are no change
  std::string fixed;                     // why another value is refused: "its value was ..."; empty: it may change
  std::int32_t original = -1;            // in Refit::tensors; kept where a change of another weight needs it
};

struct Refit {
  std::vector<RefitWeight> weights;
  // A graph in text form (ir/text.h): input w<i> is weight i, constant #n is tensors[n], result r gives the plan's constant results[r].
  std::string recipes;
  std::vector<std::int32_t> results;
  std::vector<Tensor> tensors;
};

}  // namespace tenfold::plan
