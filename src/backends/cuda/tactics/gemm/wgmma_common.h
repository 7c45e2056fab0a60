// Products on Hopper's tensor cores: tiles worth timing, describing operands to TMA, launching.
#pragma once

#include <memory>

#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/tactics/gemm/mma_common.h"

namespace tenfold::backends::cuda {

// Whether the product fits; `fused` is as read_matmul() or read_conv() gave it.
Verdict wgmma_fits(const Problem& p, const FusedGemm& fused);
std::vector<Config> wgmma_configs(const Problem& p, const FusedGemm& fused);
Verdict wgmma_valid(const Problem& p, const Config& c);

class WgmmaKernel {
 public:
  WgmmaKernel(FusedGemm fused, const Config& c, const Problem& p, Opening& opening);
  const GemmProblem& gemm() const { return fused_.gemm; }
  const WgmmaTile& tile() const { return tile_; }
  Start start(std::int64_t m) const noexcept;
  // `parts`: for GemmProblem::moments, used only where operands lie aligned.
  Status::Code run(const RunArgs& args, std::int64_t m, void* parts = nullptr) const noexcept;
  bool takes(const RunArgs& args, std::int64_t m) const noexcept;  // otherwise a plain kernel runs, without moments

 private:
  Status::Code describe_operands(const RunArgs& args, std::int64_t m, WgmmaArguments& a) const noexcept;
  FusedGemm fused_;
  WgmmaTile tile_;
  int staged_, processors_;
  std::shared_ptr<const LoadedModule> module_;
  Function function_ = nullptr;
  std::unique_ptr<const MmaKernel> plain_;  // for addresses and numbers of rows that TMA does not take; null: there are none
};

}  // namespace tenfold::backends::cuda
