// What the user lets be rounded or approximated, written at the nodes that tactics are asked for (ir/numerics.h).
#pragma once

#include "backends/device_info.h"
#include "ir/graph.h"
#include "tenfold/build.h"

namespace tenfold::quant {

// Sets Node::numerics from the flags, in bodies too. f32 products and fused attention: round_to is bf16 where config.bf16 and the device
// has AMX's products of it, else tf32 where config.tf32. Leaves for 16 bits stay as they are: types follow from these.
void permit(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device);
// The same for the graph of a plan that is tuned again: algorithms that its build withheld stay withheld.
void permit_again(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device);
// Warns of what fast_exp does not reach: attention that the model, or a plan to re-tune, holds as one operator.
void tell_of_fused_attention(const ir::Graph& graph, const BuildConfig& config);

}  // namespace tenfold::quant
