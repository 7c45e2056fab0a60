// Convolutions that give each position few results, all from its own channels (the last layer of a segmentation network): a position's
// channels are read once by neighboring threads, which add up their sums.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"
#include "backends/cuda/kernels/conv/conv_points_args.h"

namespace tenfold::backends::cuda {

inline constexpr int kPointsThreads = 256, kPointsAtOnce = 4;  // positions of a thread
struct PointsProblem {
  GemmProblem gemm;
  bool plain_result = false;  // channels outermost instead of innermost
  int lanes() const { return static_cast<int>(gemm.k / 8); }  // threads of a position: a power of two
  int positions() const { return kPointsThreads / lanes() * kPointsAtOnce; }  // of a block
};
std::string generate_conv_points(const PointsProblem& p);

}  // namespace tenfold::backends::cuda
