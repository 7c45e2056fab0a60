// What tactics for TopK have in common: which problems they take, and how elements are ordered.
#pragma once

#include "backends/cuda/tactics/copy_common.h"

namespace tenfold::backends::cuda {

std::size_t topk_axis(const Problem& p);
Verdict topk_fits(const Problem& p);
// Macros T and a function order(T) whose results are larger where an element is better: integers in the order of floats, the two zeros
// equal, every NaN above infinity.
std::string topk_order(const Problem& p);

}  // namespace tenfold::backends::cuda
