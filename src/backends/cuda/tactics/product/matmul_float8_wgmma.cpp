// matmul_float8_wgmma: e4m3 times a constant matrix of such, on Hopper's tensor cores, with any epilogue: as matmul_wgmma.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_matmul_wgmma();

Tactic cuda_matmul_float8_wgmma() {
  Tactic tactic = cuda_matmul_wgmma();
  tactic.name = "matmul_float8_wgmma", tactic.op = "MatMulFloat8";
  return tactic;
}

}  // namespace tenfold::backends
