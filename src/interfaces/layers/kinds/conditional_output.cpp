// IIfConditionalOutputLayer: operand 0 where the condition holds, else operand 1.
#include "layers/layer.h"

namespace tenfold::layers {

LayerKind layer_conditional_output() { return region_kind("conditional_output", RegionPart::output, 2, {}); }

}  // namespace tenfold::layers
