// Products of few rows on Hopper: tiles worth timing, describing operands to TMA, launching. Configurations are the columns of a block, the
// blocks of a cluster that share a sum, and those that share a matrix.
#pragma once

#include <memory>
#include <optional>

#include "backends/cuda/codegen/gemm/gemm_skinny.h"
#include "backends/cuda/tactics/gemm/mma_common.h"

namespace tenfold::backends::cuda {

// Whether the product fits; `norm`: its rows are also normalized.
Verdict skinny_fits(const Problem& p, const FusedGemm& fused, bool norm = false);
std::vector<Config> skinny_configs(const Problem& p, const FusedGemm& fused, bool norm = false);   // best guess first
Verdict skinny_valid(const Problem& p, const FusedGemm& fused, const Config& c, bool norm = false);

class SkinnyKernel {
 public:
  // With an epsilon it normalizes its rows.
  SkinnyKernel(FusedGemm fused, std::optional<double> epsilon, const Config& c, const Problem& p, Opening& opening);
  bool takes(const RunArgs& args) const noexcept { return lie_aligned(args, fused_.epilogue); }   // else TMA reads no operands
  Status::Code run(const RunArgs& args, std::int64_t m) const noexcept;

 private:
  FusedGemm fused_;
  SkinnyTile tile_;
  std::shared_ptr<const LoadedModule> module_;
  Function function_ = nullptr;
};

}  // namespace tenfold::backends::cuda
