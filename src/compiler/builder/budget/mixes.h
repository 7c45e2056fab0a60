// Mixed plans: from what is known of layers to allocations, and from these to the types that a build is given.
#pragma once

#include "builder/budget/allocation.h"
#include "builder/budget/layers.h"

namespace tenfold::builder {

// The states of a layer are its types, in their order. Where neighbors differ, a cast of what lies between them is added by the bytes
// that it moves; where both have one type it is in the times already. `launches`: of a device on which a step is a launch.
AllocationProblem problem_of(const Layers& layers, bool launches);

std::vector<DType> types_of(const Layers& layers, const Allocation& states);
// "13 of 53 layers in f32": those that are wider than they could be.
std::string name_of(const Layers& layers, const std::vector<DType>& types);
// What has to be asked for, beside a build that gives layers the types of `usual`. `untried`: also of layers that are not known to have
// another one.
std::vector<LayerPrecision> precisions_for(const Layers& layers, const std::vector<DType>& types,
                                           const std::map<std::string, DType>& usual, bool untried = false);

// What a reader may do about a layer of this type, in words; empty: nothing.
std::string advice_on(const Layer& layer, DType type, double max_error);

}  // namespace tenfold::builder
