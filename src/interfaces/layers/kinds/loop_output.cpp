// ILoopOutputLayer: the value of a recurrence behind the last round (LAST_VALUE), or what a layer was in all rounds, along a new dim `axis`
// (CONCATENATE; REVERSE: from the last on). Operand 1 of these is how many rounds the result holds: where the loop has fewer, zeros follow.
// Without it the loop itself tells.
#include "layers/layer.h"

namespace tenfold::layers {

LayerKind layer_loop_output() {
  return region_kind("loop_output", RegionPart::output, 2, {{"kind", std::string("LAST_VALUE")}, {"axis", std::int64_t{0}}});
}

}  // namespace tenfold::layers
