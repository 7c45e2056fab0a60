// The precision stage: which nodes compute in fewer bits, settled before products and epilogues are fused.
#pragma once

#include "backends/device_info.h"
#include "ir/op_def.h"
#include "tenfold/build.h"

namespace tenfold::quant {

// Integer forms where the model has Q/DQ pairs (config.int8), and permission for bf16 where the device computes it (config.bf16).
// A precision flag is permission: what the device lacks stays in the wider type, and the log says so. `wide`: names of values that f16
// cannot hold.
void apply(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const std::set<std::string>& wide = {});

}  // namespace tenfold::quant
