// Depthwise convolutions, a filter for each channel: channels last, neighboring channels in a thread, any epilogue.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"

namespace tenfold::backends::cuda {

// Exports `vectors`, for addresses at multiples of 16 bytes, and `singles`; both take GemmArguments. The weights lie as [tap, channel].
// Operand `zero_point` of the epilogue is taken from each element that is read.
std::string generate_conv_depthwise(const GemmProblem& p);
inline constexpr int kDepthwiseThreads = 128;
int depthwise_width(const GemmProblem& p);  // channels of a thread of `vectors`

}  // namespace tenfold::backends::cuda
