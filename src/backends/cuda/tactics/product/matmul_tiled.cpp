// matmul_tiled: matrix products of floats on plain cores: two activations, batches that are broadcast, vectors, sizes that only a run
// knows.
#include "backends/cuda/tactics/product/product_tiled_common.h"

namespace tenfold::backends {

Tactic cuda_matmul_tiled() { return cuda::product_tiled_tactic("matmul_tiled", "MatMul"); }

}  // namespace tenfold::backends
