// Ranges of the shapes that inputs may have.
#pragma once

#include <map>
#include <string>

#include "tenfold/tensor.h"

namespace tenfold {

// The range of one input's shape, and the shape to tune for. An input whose three shapes are equal is fixed.
struct ShapeRange { Shape min, opt, max; };
// By the name of the input. A dynamic dim whose symbol the profile does not give is fixed to 1, and the log warns of
// it.
using OptimizationProfile = std::map<std::string, ShapeRange>;

}  // namespace tenfold
