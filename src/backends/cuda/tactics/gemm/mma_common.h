// Products and convolutions by our own tensor-core kernels: tiles worth timing, the epilogue's operands, loading and launching.
#pragma once

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/gemm/gemm_common.h"

namespace tenfold::backends::cuda {

std::int64_t shared_limit(int arch);  // bytes that a block may have
// Tiles worth timing, best guess first; each as numbers of a Config.
std::vector<Config> mma_configs(const Problem& p, const FusedGemm& fused);
Verdict mma_valid(const Problem& p, const Config& c);

// Whether vectors of 16 bytes may be read and written: operands, result, and what the epilogue reads.
bool lie_aligned(const RunArgs& args, const Epilogue& epilogue) noexcept;
// Where the epilogue's operands lie.
void place_epilogue(const RunArgs& args, const Epilogue& epilogue, const void* (&to)[kMaxEpilogueOperands]) noexcept;

class MmaKernel {
 public:
  // For wherever the operands of `p` may lie.
  MmaKernel(FusedGemm fused, const Config& c, const Problem& p, Opening& opening);
  // In a small tile, element by element, wherever they lie: for what a kernel that reads by TMA does not take.
  MmaKernel(FusedGemm fused, const Problem& p, Opening& opening);
  const GemmProblem& gemm() const { return gemm_; }
  Status::Code run(const RunArgs& args, std::int64_t m) const noexcept;

 private:
  struct Loaded {
    std::shared_ptr<const LoadedModule> module;
    Function function = nullptr;
  };
  MmaKernel(FusedGemm fused, const GemmTile& tile, Device& device);
  Loaded load(bool vectors, Opening& opening) const;
  GemmProblem gemm_;
  Epilogue epilogue_;
  GemmTile tile_;
  Device& device_;
  Loaded vectors_, singles_;  // the second for addresses that are not multiples of 16
};

}  // namespace tenfold::backends::cuda
