// Products and convolutions on Hopper's tensor cores: tiles come to shared memory by TMA, one warp asks for them, groups of four
// warps multiply them by wgmma, and results leave through shared memory by TMA. Blocks stay and take tile after tile.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"
#include "backends/cuda/kernels/gemm/gemm_moments_args.h"
#include "backends/cuda/kernels/gemm/gemm_norm_plain_args.h"
#include "backends/cuda/kernels/gemm/gemm_wgmma_args.h"

namespace tenfold::backends::cuda {

class KernelText;

struct WgmmaTile {
  int blocks = 1;          // of 64 rows, that a group of four warps multiplies
  int columns = 128;       // of a tile, a multiple of 16 up to 256
  int groups = 2;          // of warps that multiply
  bool alternate = false;  // each group has tiles of its own: one writes results while the other multiplies
  int stages = 4;
  int slots = 2;         // strips of results that a group holds in shared memory
  int result_bytes = 2;  // of one result
  int row_bytes = 128;   // of a tile along k
  int rows() const { return alternate ? 64 * blocks : 64 * blocks * groups; }
  int strip() const {  // columns whose results make rows of 128 bytes, or fewer so that strips fill the tile
    int max = 128 / result_bytes;
    while (columns % max != 0) max /= 2;
    return max;
  }
  int threads() const { return 128 * (groups + 1); }
  int shared_bytes() const;
};

inline constexpr int kWgmmaDepth = 64;

// The operand of the epilogue that comes by TMA as the results go: the first one of their shape and size; -1 if none.
int staged_operand(const GemmProblem& p);
std::string generate_wgmma(const GemmProblem& p, const WgmmaTile& tile);

// `finish`: of whole rows the inverse deviation, and the mean times it, out of parts as above; `plain`: out of the rows themselves.
inline constexpr int kMomentsThreads = 128;  // each a row; of `plain` all of them one row
std::string generate_moments(const GemmProblem& p, int columns, double epsilon);

// A product, a row and a tensor added, and LayerNormalization of that: the blocks of a cluster hold whole rows between them.
struct WgmmaNormTile {
  int columns = 192, cluster = 4, groups = 2, stages = 4;
  WgmmaTile tile() const { return {1, columns, groups, false, stages, columns / WgmmaTile{1, columns}.strip()}; }
  int shared_bytes() const;
};
struct GemmLayerNormProblem {
  DType type = DType::f16, scale = DType::f16, bias = DType::f16, row = DType::f16;
  std::int64_t n = 0, k = 0;
  bool has_row = false, added = false, kept = false;  // kept: the sum before the norm is a result too
  double epsilon = 0;
};
// `gemm`: takes WgmmaArguments with scale, bias and row as operands of the epilogue.
std::string generate_wgmma_norm(const GemmLayerNormProblem& p, const WgmmaNormTile& tile);
// `plain`: one block for each row, whatever the addresses are.
inline constexpr int kPlainNormThreads = 256;
std::string generate_plain_norm(const GemmLayerNormProblem& p);
void define_norm(KernelText& text, const GemmLayerNormProblem& p);   // macros of both

}  // namespace tenfold::backends::cuda
