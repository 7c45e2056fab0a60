// Norms of groups of channels over images with their channels innermost, with an epilogue of one operand.
#pragma once

#include <optional>
#include <string>

#include "backends/cuda/kernels/norm/group_norm_nhwc_args.h"
#include "ir/body.h"

namespace tenfold::backends::cuda {

inline constexpr int kGroupNormNhwcThreads = 256;

struct GroupNormNhwcProblem {
  DType in = DType::f16, out = DType::f16;
  std::int64_t channels = 8, groups = 1;    // of 8 channels and a multiple
  double epsilon = 1e-5;
  std::optional<ir::Body> body;             // of one operand, the norm
};
// Exports moments_vectors and apply_vectors, for addresses at multiples of 16 bytes, and both with _singles.
std::string generate_group_norm_nhwc(const GroupNormNhwcProblem& p);

}  // namespace tenfold::backends::cuda
