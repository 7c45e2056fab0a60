// Products of few rows on Hopper's tensor cores: a block asks for all of its part of the matrix at once, before the kernel ahead has
// ended, and the blocks of a cluster share the sum over k. Of rows that are yet to be normalized it also finds the deviation, by which it
// divides (NormGemm).
#pragma once

#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/kernels/gemm/gemm_skinny_args.h"

namespace tenfold::backends::cuda {

struct SkinnyTile {
  int columns = 64;  // of a block; it has 64 rows
  int split = 1;     // blocks of a cluster that share a sum
  int pair = 1;      // blocks of a cluster whose rows are neighbors, and which bring the matrix for each other
  int depth = 64;    // elements along k that are 128 bytes
  bool norm = false;
  int steps(std::int64_t k) const;         // along k, all in shared memory at once
  int shared_bytes(std::int64_t k) const;
  unsigned threads() const { return norm ? 384 : 256; }
};
// `epsilon`: of the deviation, for tiles with `norm`.
std::string generate_gemm_skinny(const GemmProblem& p, const SkinnyTile& tile, double epsilon = 0);

}  // namespace tenfold::backends::cuda
