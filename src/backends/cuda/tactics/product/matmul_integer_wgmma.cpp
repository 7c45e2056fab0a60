// matmul_integer_wgmma: integers of 8 bits times a constant matrix of such, on Hopper's tensor cores, with any epilogue: as matmul_wgmma.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_matmul_wgmma();

Tactic cuda_matmul_integer_wgmma() {
  Tactic tactic = cuda_matmul_wgmma();
  tactic.name = "matmul_integer_wgmma", tactic.op = "MatMulInteger";
  return tactic;
}

}  // namespace tenfold::backends
