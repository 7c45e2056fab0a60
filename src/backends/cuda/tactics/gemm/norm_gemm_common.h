// NormGemm as our product kernels see it.
#pragma once

#include "backends/cuda/tactics/gemm/gemm_row_stats_common.h"
#include "backends/cuda/tactics/gemm/mma_common.h"

namespace tenfold::backends::cuda {

// `fused`: the product before it is divided, and the epilogue after that.
Verdict read_norm_gemm(const Problem& p, FusedGemm& fused);

// Two kernels for wherever operands lie: one reads each row for its deviation, one multiplies.
class NormGemmPlain {
 public:
  NormGemmPlain(const Problem& p, const FusedGemm& fused, const Config* c, Opening& opening);   // no configuration: element by element
  Status::Code run(const RunArgs& args, std::int64_t m) const noexcept;

 private:
  MomentsKernel moments_;
  std::unique_ptr<const MmaKernel> product_;
};

}  // namespace tenfold::backends::cuda
