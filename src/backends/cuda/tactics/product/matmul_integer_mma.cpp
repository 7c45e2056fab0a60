// matmul_integer_mma: integers of 8 bits times a constant matrix of such, on tensor cores, with any epilogue: as matmul_mma.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_matmul_mma();

Tactic cuda_matmul_integer_mma() {
  Tactic tactic = cuda_matmul_mma();
  tactic.name = "matmul_integer_mma", tactic.op = "MatMulInteger";
  return tactic;
}

}  // namespace tenfold::backends
