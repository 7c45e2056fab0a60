// Inputs to try a plan on: typical ones of the build, or made up.
#pragma once

#include "tenfold/build.h"
#include "tenfold/quantize.h"

namespace tenfold::builder {

// The first of BuildConfig::typical_inputs, and for inputs that it lacks tensors in the shapes that the first profile is tuned for: floats
// in [-1, 1], the same in every build, and ones, which are good indices, masks and sizes.
InputSet example_inputs(const Engine& engine, const BuildConfig& config);

}  // namespace tenfold::builder
