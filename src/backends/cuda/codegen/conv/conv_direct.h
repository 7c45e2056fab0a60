// Convolution without tensor cores: a thread for each result, neighboring threads for neighboring filters.
#pragma once

#include <array>
#include <string>

#include "backends/cuda/kernels/conv/conv_direct_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

struct DirectConvProblem {
  DType dtype = DType::f32;
  bool has_bias = false;
  std::int64_t filters = 0, depth = 0, groups = 1;  // depth: channels that one filter reads
  std::array<std::int64_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0};
};
inline constexpr int kDirectThreads = 128;

std::string generate_conv_direct(const DirectConvProblem& p);

}  // namespace tenfold::backends::cuda
