// Convolutions as products: windows of an image against rows of packed filters, and an epilogue (gemm_common.h).
#pragma once

#include "backends/cuda/tactics/gemm/gemm_common.h"

namespace tenfold::backends::cuda {

// One that only mixes channels becomes a plain product. `in_groups`: channels may be in groups, several of which are taken as one.
Verdict read_conv(const Problem& p, FusedGemm& fused, F32 f32 = F32::none, bool in_groups = false);
Verdict read_depthwise(const Problem& p, FusedGemm& fused);  // one filter for each channel
inline constexpr std::int64_t kMaxDepthwiseTaps = 49;
// Where windows tile the result one product, otherwise one for each phase.
Verdict read_conv_transpose(const Problem& p, FusedGemm& fused);
double conv_work(const Problem& p, const FusedGemm& fused);  // without what is multiplied by nought between groups
std::int64_t conv_rows(const GemmProblem& p, const RunArgs& args);  // that a run has

}  // namespace tenfold::backends::cuda
