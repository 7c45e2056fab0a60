// Matrix products of any float type without tensor cores: a thread sums up a tile of results in registers, its block's rows and columns
// come through shared memory, and extents and strides are given by the run, so that operands may be transposed, broadcast or strided.
#pragma once

#include <string>
#include <vector>

#include "backends/cuda/kernels/gemm/gemm_tiled_args.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

struct TiledTile {
  int rows = 128, columns = 128;   // of a block
  int warps_down = 4, warps_across = 2;
  int threads() const { return 32 * warps_down * warps_across; }
};
struct TiledProblem {
  DType in = DType::f32, out = DType::f32;
  const ir::Body* body = nullptr;   // null: the sum itself
  std::vector<DType> epilogue;      // feed body inputs 1, 2, ...
  bool vectors = true, singles = true;      // kernels that are wanted: both operands 16 bytes at once, or element by element
  bool a_along = true, b_along = false;     // vectors: whether they lie along the terms of the sum, or along rows or columns
};
std::string generate_gemm_tiled(const TiledProblem& p, const TiledTile& tile);

}  // namespace tenfold::backends::cuda
