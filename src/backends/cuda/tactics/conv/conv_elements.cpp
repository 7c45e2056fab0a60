// conv_elements: Conv of any floats, a thread for each element of the result.
#include "backends/cuda/tactics/conv/conv_elements_common.h"

namespace tenfold::backends {

Tactic cuda_conv_elements() { return cuda::conv_elements_tactic("conv_elements", "Conv"); }

}  // namespace tenfold::backends
