// IPluginV3Layer: a node of the operator `op` of `domain`, which a plug-in of the network gives; `data` is its attribute.
#include "layers/layer.h"

namespace tenfold::layers {

LayerKind layer_plugin_v3() { return plugin_kind("plugin_v3"); }

}  // namespace tenfold::layers
