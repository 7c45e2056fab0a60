// Matrix products with a thread for each element of the result: of integers, and of types that matmul_tiled does not take.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic matmul_elements_tactic(const char* name, const char* op);  // of MatMul or MatMulInteger

}  // namespace tenfold::backends::cuda
