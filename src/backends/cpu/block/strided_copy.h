// Copies a tensor from any strides to any strides: what every movement operator and reformat comes down to.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/move/move.h"
#include "base/threads/parallel.h"

namespace tenfold::backends::cpu {

struct StridedCopy {
  const MoveKernels* kernels;
  int element_bytes;  // 1, 2, 4 or 8
  // Elements of `dims` from `from` to `to`, strides in elements; a source stride of 0 repeats. rank <= kMaxRank.
  void run(Parallel& parallel, const std::int64_t* dims, int rank, void* to, const std::int64_t* to_strides, const void* from,
           const std::int64_t* from_strides) const noexcept;
};

}  // namespace tenfold::backends::cpu
