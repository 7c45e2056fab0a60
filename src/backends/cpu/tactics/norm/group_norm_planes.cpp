// group_norm_planes: GroupNormalization of plain f32 tensors, whose groups of channels are contiguous.
#include "backends/cpu/tactics/norm/group_norm_common.h"

namespace tenfold::backends {

Tactic cpu_group_norm_planes() { return cpu::group_norm_tactic("group_norm_planes", "GroupNormalization"); }

}  // namespace tenfold::backends
