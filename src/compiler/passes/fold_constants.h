// The pass of rules/fold_constants.cpp, with what it leaves alone.
#pragma once

#include <optional>

#include "passes/pass.h"

namespace tenfold::passes {

// fold_constants that leaves casts of large weights of products from this type to f32: the precision stage, which narrows the products to
// it, takes the weights as they are stored.
Pass pass_fold_constants_but(std::optional<DType> stored);

}  // namespace tenfold::passes
