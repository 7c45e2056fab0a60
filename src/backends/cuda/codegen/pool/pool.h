// Pooling windows: one thread for each result, or for some neighboring channels of it.
#pragma once

#include <array>
#include <string>

#include "backends/cuda/kernels/pool/pool_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

struct PoolProblem {
  DType dtype = DType::f32;
  bool is_max = true, count_pads = false;
  int width = 1;  // channels a thread takes; they must lie side by side
  std::array<std::int64_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, begin{0, 0, 0}, end{0, 0, 0};
  std::int64_t channels = 0;                  // 0: only a run knows
  std::array<std::int64_t, 3> out{0, 0, 0};   // likewise
  bool few = false;                           // results can be counted in 32 bits
};
inline constexpr int kPoolThreads = 128;

std::string generate_pool(const PoolProblem& p);

}  // namespace tenfold::backends::cuda
