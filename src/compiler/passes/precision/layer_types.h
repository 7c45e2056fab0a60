// Types that the user gave to single layers (tenfold/precision.h): who gets which, and what became of it.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/device_traits.h"
#include "ir/graph.h"
#include "passes/pass.h"
#include "tenfold/build.h"

namespace tenfold::passes {

// Whether the lists of BuildConfig::layer_types are to be followed.
bool gives_layer_types(const BuildConfig& config);
// Whether fp16 is permitted, to all layers or to some.
bool may_use_fp16(const BuildConfig& config);
// Throws invalid_argument on a name or pattern that fits no node of the model, with names near it, and on types that no layer can have.
void check_layer_types(const ir::Graph& model, const LayerTypes& types);

// Writes Numerics::type at nodes that stand for such layers: the widest of their types.
Pass pass_give_layer_types(const LayerTypes& types);
// Results in f32 that are wanted in 16 bits are rounded to them.
Pass pass_round_outputs(const LayerTypes& types);

// The type that a node computes in: the narrowest of its operands' that it multiplies or adds. Nothing for what only casts or moves.
std::optional<DType> computes_in(const ir::Node& node);
// Of each of the model's layers, the node that computes in the fewest bits. `graph`: precision is settled, nothing is fused yet.
struct LayerCompute { const ir::Node* node; DType type; };
std::unordered_map<std::int32_t, LayerCompute> compute_of_layers(const ir::Graph& graph);
// How many of the model's layers compute in each type.
std::map<DType, int> layers_by_type(const ir::Graph& graph);

struct UnmetType { std::string layer, text; };   // the text names layer, types, device and reason
// Layers that compute in another type than theirs, or give another one. `graph` as above. `quantized`: by the model or a calibration.
std::vector<UnmetType> unmet_layer_types(const ir::Graph& graph, const BuildConfig& config, bool quantized,
                                         const backends::DeviceInfo& device);

}  // namespace tenfold::passes
