// matmul_elements: MatMul of integers, a thread for each element of the result.
#include "backends/cuda/tactics/product/matmul_elements_common.h"

namespace tenfold::backends {

Tactic cuda_matmul_elements() { return cuda::matmul_elements_tactic("matmul_elements", "MatMul"); }

}  // namespace tenfold::backends
