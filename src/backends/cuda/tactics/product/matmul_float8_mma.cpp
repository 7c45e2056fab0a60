// matmul_float8_mma: e4m3 times a constant matrix of such, on tensor cores, with any epilogue: as matmul_mma.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_matmul_mma();

Tactic cuda_matmul_float8_mma() {
  Tactic tactic = cuda_matmul_mma();
  tactic.name = "matmul_float8_mma", tactic.op = "MatMulFloat8";
  return tactic;
}

}  // namespace tenfold::backends
