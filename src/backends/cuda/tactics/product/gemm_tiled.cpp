// gemm_tiled: Gemm of floats, operands transposed or not, by the same kernel; f32 ones mostly have become MatMul before.
#include "backends/cuda/tactics/product/product_tiled_common.h"

namespace tenfold::backends {

Tactic cuda_gemm_tiled() { return cuda::product_tiled_tactic("gemm_tiled", "Gemm"); }

}  // namespace tenfold::backends
