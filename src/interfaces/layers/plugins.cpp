// What IPluginV2Layer and IPluginV3Layer have in common: a node of a plug-in's operator, with its data.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  const std::int64_t outputs = call.number("outputs");
  if (outputs < 1 || outputs > 1024) call.refuse("outputs is " + std::to_string(outputs) + ", a plug-in has 1 to 1024");
  return call.nodes(call.text("op"), call.all(), static_cast<int>(outputs), {{"data", call.text("data")}}, call.text("domain"));
}

}  // namespace

LayerKind plugin_kind(const char* name) {
  return {.name = name,
          .min_inputs = 0,
          .max_inputs = -1,
          .options = {{"domain", std::string()}, {"op", std::string()}, {"data", std::string()}, {"outputs", std::int64_t{1}}},
          .make = make};
}

}  // namespace tenfold::layers
