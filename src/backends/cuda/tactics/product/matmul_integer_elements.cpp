// matmul_integer_elements: MatMulInteger with zero points of both sides and weights that are no constants.
#include "backends/cuda/tactics/product/matmul_elements_common.h"

namespace tenfold::backends {

Tactic cuda_matmul_integer_elements() { return cuda::matmul_elements_tactic("matmul_integer_elements", "MatMulInteger"); }

}  // namespace tenfold::backends
