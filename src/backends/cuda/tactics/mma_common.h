// Products and convolutions by our own tensor-core kernels: tiles worth timing, the epilogue's operands, loading and launching.
#pragma once

#include <mutex>

#include "backends/cuda/device/launch.h"
#include "backends/cuda/tactics/product_common.h"

namespace tenfold::backends::cuda {

std::int64_t shared_limit(int arch);  // bytes that a block may have
// Tiles worth timing, best guess first; each as numbers of a Config.
std::vector<Config> mma_configs(const Problem& p, const Product& product);
Verdict mma_valid(const Problem& p, const Config& c);

// Whether vectors of 16 bytes may be read and written: operands, result, and what the epilogue reads.
bool lie_aligned(const RunArgs& args, const Tail& tail) noexcept;
// Where the epilogue's operands lie.
void place_tail(const RunArgs& args, const Tail& tail, const void* (&to)[kMostTail]) noexcept;
inline const Config kPlainTile{16, 64, 1, 4, 2, 1};  // of kernels for addresses that do not

class MmaKernel {
 public:
  // `now`: compile the kernel for aligned addresses; otherwise only that for others, when one is met.
  MmaKernel(Product product, const Config& c, const DeviceInfo& device, bool now = true);
  const GemmProblem& gemm() const { return gemm_; }
  Status::Code run(const RunArgs& args, std::int64_t m) const noexcept;

 private:
  struct Loaded {
    std::shared_ptr<const LoadedModule> module;
    Function function = nullptr;
  };
  Loaded load(bool vectors) const;
  GemmProblem gemm_;
  Tail tail_;
  GemmTile tile_;
  int ordinal_;
  Loaded vectors_;
  // For addresses that are not multiples of 16: compiled when they are first met.
  mutable std::once_flag met_;
  mutable Loaded singles_;
};

}  // namespace tenfold::backends::cuda
