// What a block of generate_gemm's kernels computes, and where its rows of a lie: text.
#pragma once

#include "backends/cuda/codegen/product/gemm.h"

namespace tenfold::backends::cuda {

// Extents of a convolution as #define; structs Part (of a group and phase) and Row, made from a Part and the number of the row.
std::string print_rows(const GemmProblem& p);

}  // namespace tenfold::backends::cuda
