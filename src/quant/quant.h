// The precision stage: which nodes compute in fewer bits, settled before products and epilogues are fused.
#pragma once

#include "backends/device_info.h"
#include "ir/op_def.h"
#include "tenfold/build.h"

namespace tenfold::quant {

// Integer forms where the model has Q/DQ pairs (config.int8), 16-bit floats where flags and device allow them, and at every node what it
// may round (numerics.h).
// A precision flag is permission: what the device lacks stays in the wider type (refused_precisions() says so). `wide`: names of values
// that f16 cannot hold.
void apply(ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device, const std::set<std::string>& wide = {});

// What was permitted, or is in the model, and cannot be had: one sentence each. `graph`: before apply().
std::vector<std::string> refused_precisions(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device);

}  // namespace tenfold::quant
