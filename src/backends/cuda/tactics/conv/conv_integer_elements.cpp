// conv_integer_elements: ConvInteger with zero points of both sides, groups and weights that are no constants.
#include "backends/cuda/tactics/conv/conv_elements_common.h"

namespace tenfold::backends {

Tactic cuda_conv_integer_elements() { return cuda::conv_elements_tactic("conv_integer_elements", "ConvInteger"); }

}  // namespace tenfold::backends
