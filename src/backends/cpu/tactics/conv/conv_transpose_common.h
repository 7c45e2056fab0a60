// Transposed convolution whose windows do not overlap (stride equals kernel): each tap is a product of its own, whose rows have places of
// their own in the enlarged image.
#pragma once

#include "backends/cpu/gemm/conv/conv_shape.h"

namespace tenfold::backends::cpu {

// As ConvShape of a convolution, though the weight is [channels, filters, taps] here.
ConvShape conv_transpose_shape(const Problem& problem);
// Whether windows lie side by side, in channels-last order, of any float type.
Verdict conv_transpose_apart(const Problem& problem);
double conv_transpose_work(const Problem& problem);

}  // namespace tenfold::backends::cpu
