// Matrix products by cuBLASLt: what of a problem it can do, and the descriptions it wants.
#pragma once

#include "backends/cuda/device/cublas_lt.h"
#include "backends/cuda/device/queue.h"
#include "backends/cuda/tactics/gemm/library_epilogue_common.h"

namespace tenfold::backends::cuda {

Verdict match_lt_epilogue(const Problem& p, LibraryEpilogue& epilogue);

// One product in cuBLASLt's terms: d[batch, n, m] (columns first) = weights * activations.
struct LtSizes {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool b_batched = false, b_transposed = false;  // weights have the batch; lie as [n, k]
  auto operator<=>(const LtSizes&) const = default;
};

// Descriptions and the chosen algorithm of one product. Made when a plan is loaded, or in a run whose sizes were not known then.
class LtPlan {
 public:
  LtPlan() = default;
  LtPlan(LtPlan&& other) noexcept { swap(other); }
  LtPlan& operator=(LtPlan&& other) noexcept { return swap(other), *this; }
  ~LtPlan();
  // The `rank`-th of the library's candidates; false if there are fewer.
  bool make(LtHandle handle, const LtSizes& sizes, DType dtype, bool tf32, const LibraryEpilogue& epilogue, int alignment, int rank,
            std::int64_t workspace) noexcept;
  Status::Code run(LtHandle handle, const Queue& queue, const void* a, const void* b, void* d, const void* bias, const void* residual,
                   void* workspace, std::int64_t workspace_bytes) const noexcept;

 private:
  void swap(LtPlan& other) noexcept;
  LtObject product_ = nullptr, a_ = nullptr, b_ = nullptr, d_ = nullptr;
  LtAlgorithm algorithm_{};
  bool f64_ = false;
};

// For sizes that only a run knows: made once for each, for to ask the library for candidates takes long, and shared by all that multiply
// so; the first candidate where there is no such. Null: there is none, or no memory.
std::shared_ptr<const LtPlan> lt_plan_at(LtHandle handle, const LtSizes& sizes, DType dtype, bool tf32, const LibraryEpilogue& epilogue,
                                         int alignment, int rank, std::int64_t workspace) noexcept;

}  // namespace tenfold::backends::cuda
