// What the user lets be rounded or approximated, written at the nodes that tactics are asked for (ir/numerics.h).
#pragma once

#include "backends/device_traits.h"
#include "passes/pass.h"
#include "tenfold/build.h"

namespace tenfold::passes {

// Sets Node::numerics from the flags. f32 products and fused attention: round_to is bf16 where config.bf16 and the device has quick
// products of it, else tf32 where config.tf32 and its part for convolutions, or for other products, permit it. Leaves for 16 bits stay
// as they are: types follow from these.
Pass pass_permit_rounding(const BuildConfig& config, const backends::DeviceTraits& device);
// The same for the graph of a plan that is tuned again, bodies included: algorithms that its build withheld stay withheld.
void permit_again(ir::Graph& graph, const BuildConfig& config, const backends::DeviceTraits& device);

}  // namespace tenfold::passes
