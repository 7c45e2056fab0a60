// Products and convolutions by our own tensor-core kernels: tiles worth timing, the epilogue's operands, loading and launching.
#pragma once

#include <mutex>

#include "backends/cuda/codegen/gemm.h"
#include "backends/cuda/device/launch.h"

namespace tenfold::backends::cuda {

// What the result means and how its operands are read; the body is empty if there is nothing after the sum.
struct Tail {
  ir::Body body;
  bool has_body = false;
  std::vector<int> inputs;  // operands of the problem
  std::vector<TailOperand> operands;
};
// `by_column`: whether an operand has one value for each column of the result. `bias`: an operand with one value for each column
// that is added first, or -1.
Verdict match_any_tail(const Problem& p, bool (*by_column)(const OperandDesc&, const OperandDesc& result), int bias, Tail& tail);

Verdict mma_types(const Problem& p);
std::int64_t shared_limit(int arch);  // bytes that a block may have
// Tiles worth timing for a result of m x n, best guess first; each as numbers of a Config.
std::vector<Config> mma_configs(const Problem& p, std::int64_t m, std::int64_t n, std::int64_t k);
Verdict mma_valid(const Problem& p, const Config& c);

class MmaKernel {
 public:
  MmaKernel(const Problem& p, GemmProblem gemm, Tail tail, const Config& c);
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
