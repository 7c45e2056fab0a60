// What is told of precision: what was allowed and cannot be had, and what became of a quantized model.
#pragma once

#include <string>
#include <vector>

#include "backends/device_traits.h"
#include "base/log.h"
#include "ir/graph.h"
#include "tenfold/build.h"

namespace tenfold::passes {

// What was permitted, or is in the model, and cannot be had: one sentence each. `graph`: before precision is settled.
std::vector<std::string> refused_precisions(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device);
// The same of permissions that no layer made use of. `graph`: precision is settled, nothing is fused yet.
std::vector<std::string> unused_precisions(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceInfo& device);
// Warns of what fast_exp does not reach: attention that the model, or a plan to re-tune, holds as one operator.
void warn_of_fused_attention(const ir::Graph& graph, const BuildConfig& config, const backends::DeviceTraits& device);
// What became of the products of a quantized model. `graph`: behind the passes that settle precision.
void log_quantized_types(const ir::Graph& graph, bool quantized, const Log& log);

}  // namespace tenfold::passes
