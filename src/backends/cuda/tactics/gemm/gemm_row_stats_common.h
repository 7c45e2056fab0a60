// GemmRowStats as our product kernels see it, and the kernels that tell of its rows.
#pragma once

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"

namespace tenfold::backends::cuda {

Verdict read_gemm_row_stats(const Problem& p, FusedGemm& fused);

// What runs behind the product.
class MomentsKernel {
 public:
  MomentsKernel(const Problem& p, const GemmProblem& gemm, int columns, Opening& opening);
  // `parts`: what the product's tiles told of `columns` each; null: the rows are read again.
  Status::Code run(const RunArgs& args, std::int64_t m, const void* parts, Start start = Start::early) const noexcept;
  // Reads rows that lie elsewhere than in the first result.
  Status::Code read(const RunArgs& args, std::int64_t m, const void* rows, Start start = Start::early) const noexcept;

 private:
  std::shared_ptr<const LoadedModule> module_;
  Function finish_ = nullptr, plain_ = nullptr;
};

}  // namespace tenfold::backends::cuda
