// What the tactics for ExpandDepthwise share: a 1x1 convolution and the depthwise one behind it, channels-last, line by line.
#pragma once

#include "backends/cpu/gemm/conv_shape.h"

namespace tenfold::backends::cpu {

// The window of the second convolution; `channels` of the image, `width` of the first convolution's result.
struct ExpandShape {
  std::int64_t channels, width, high, wide, stride_y, stride_x, top, left, right;
  explicit ExpandShape(const Problem& problem);
};
// Operands of that type, weights constant, windows that kernels for lines take, channels-last.
Verdict expand_depthwise_supports(const Problem& problem, DType type);
double expand_depthwise_work(const Problem& problem);

}  // namespace tenfold::backends::cpu
