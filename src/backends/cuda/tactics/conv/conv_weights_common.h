// Weights of convolutions as our tensor-core kernels read them: for each phase and group a matrix of filters, along which run taps,
// then channels.
#pragma once

#include "backends/cuda/tactics/gemm/gemm_common.h"

namespace tenfold::backends::cuda {

struct WeightOrder {
  std::int64_t groups = 1, filters = 1, channels = 1;  // of one group
  std::int64_t together = 1;                           // groups that share a matrix, with noughts between them
  std::int64_t phases = 1, k = 1;
  bool channels_first = false;  // as ConvTranspose has them
  struct Tap {
    std::int64_t phase, index;
  };
  std::vector<Tap> taps;
  std::int64_t elements() const { return phases * groups * filters * k; }
};
// Of a convolution or transposed convolution as `gemm` has been read.
WeightOrder weight_order(const Problem& p, const GemmProblem& gemm);
void pack_weights(const Problem& p, const WeightOrder& order, const void* from, void* to);
Tensor unpack_weights(const Problem& p, const WeightOrder& order, const void* packed);

// Extents, phases and taps of a transposed convolution as convolutions of its phases; its operands have been looked at.
Verdict read_phases(const Problem& p, GemmProblem& gemm);
// Groups that are best multiplied together: until they fill what tensor cores multiply at once, and rows begin where vectors do.
std::int64_t groups_together(std::int64_t groups, std::int64_t channels, std::int64_t filters, DType type);

}  // namespace tenfold::backends::cuda
