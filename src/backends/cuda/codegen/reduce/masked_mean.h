// The kernel of MaskedMean: a block for each mean, its vectors spread over groups of threads.
#pragma once

#include <string>

#include "backends/cuda/kernels/reduce/masked_mean_args.h"
#include "tenfold/tensor.h"

namespace tenfold::backends::cuda {

struct MaskedMeanProblem {
  DType x = DType::f16, mask = DType::i64;
  std::int64_t length = 0;   // of a vector
  double min_weight = 0, min_length = 0;
  bool normalize = false;
  bool packed = false;       // a mean of the rows from each offset to the next
};
inline constexpr int kMaskedMeanThreads = 1024;

// Exports `vectors`, for rows at multiples of 16 bytes (or of as many as divide a row), and `singles`; grid: means.
int masked_mean_width(const MaskedMeanProblem& p);   // elements that `vectors` reads at once
std::string generate_masked_mean(const MaskedMeanProblem& p);

}  // namespace tenfold::backends::cuda
