// What tactics for TopK have in common: which problems they take, and how elements are ordered.
#pragma once

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends::cuda {

std::size_t topk_axis(const Problem& p);
Verdict topk_fits(const Problem& p);
// The macros of kernels/reduce/topk_order.cuh.
void define_topk_order(KernelText& text, const Problem& p);

}  // namespace tenfold::backends::cuda
