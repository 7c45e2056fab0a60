// Kernels that turn each line of a tensor along an axis into another, whatever its length: what rows.h has no registers for, or cannot
// know. A line is read twice or three times: for its statistics, then for its results.
#pragma once

#include <string>

#include "backends/cuda/kernels/norm/lines_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

enum class LineKind { softmax, log_softmax, layer_norm, rms_norm, group_norm_nhwc, hardmax, absolutes, squares };
struct LineProblem {
  LineKind kind = LineKind::softmax;
  DType in = DType::f32, out = DType::f32, scale = DType::f32, bias = DType::f32;
  bool has_bias = false;
  double epsilon = 0;
};
inline constexpr int kLineThreads = 512, kFewLineThreads = 128, kLineColumns = 32;

// Exports `many` and `few`, a block of kLineThreads or kFewLineThreads for each line, and `columns`, a block of kLineThreads for
// kLineColumns lines beside each other.
std::string generate_lines(const LineProblem& p);

}  // namespace tenfold::backends::cuda
