// instance_norm_planes: InstanceNormalization of plain f32 tensors, whose groups of channels are contiguous.
#include "backends/cpu/tactics/norm/group_norm_common.h"

namespace tenfold::backends {

Tactic cpu_instance_norm_planes() { return cpu::group_norm_tactic("instance_norm_planes", "InstanceNormalization"); }

}  // namespace tenfold::backends
