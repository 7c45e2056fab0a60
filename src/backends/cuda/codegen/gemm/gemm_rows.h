// Which rows of a the kernels of gemm.cu read, and what a block computes of the result: macros of kernels/gemm/gemm_rows.cuh.
#pragma once

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/gemm/gemm.h"

namespace tenfold::backends::cuda {

void define_rows(KernelText& text, const GemmProblem& p);

}  // namespace tenfold::backends::cuda
