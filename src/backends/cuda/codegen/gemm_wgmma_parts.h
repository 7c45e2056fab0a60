// The parts that kernels for wgmma are put together from: names for instructions, the product of one step, the loads of one step.
#pragma once

#include "backends/cuda/codegen/gemm.h"

namespace tenfold::backends::cuda {

const char* wgmma_helpers();  // expects BF16 to be defined: 0 or 1
// A function multiply(c, a, b, add): c = a * b, added to c or not.
std::string wgmma_multiply(int columns, bool bf16);

// Statements for each tile and for each step of 64 along k, and how many steps there are.
struct WgmmaLoads {
  std::string place, loads, steps;
};
WgmmaLoads matrix_loads(const GemmProblem& p);
WgmmaLoads conv_loads(const GemmProblem& p);

}  // namespace tenfold::backends::cuda
