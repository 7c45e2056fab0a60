// Products with weights of 4 or 8 bits and scales for blocks of a column (kernels/gemm/block_scaled_args.h has their packing), with any
// epilogue: few rows and many rows on tensor cores, and a thread for each result.
#pragma once

#include "backends/cuda/codegen/gemm/gemm.h"
#include "backends/cuda/kernels/gemm/block_scaled_args.h"

namespace tenfold::backends::cuda {

struct BlockScaledProblem {
  GemmProblem gemm;              // `in`: of activations; `weight`: i4, u4, i8 or u8
  std::int64_t block = 0;        // rows of weights that share a scale; k: all of them
  bool zeros = false;            // zero points are given
  bool norm = false;             // of few rows: they are divided by their root mean square, and multiplied by a scale of this type
  double epsilon = 0;
  DType norm_scale = DType::f16;
  int weight_bits() const { return bits(gemm.weight); }
  std::int64_t panels() const { return (gemm.n + 15) / 16; }
  std::int64_t tiles() const { return (gemm.k * weight_bits() + 255) / 256; }   // along k
  std::int64_t blocks() const { return (gemm.k + block - 1) / block; }
};

struct FewRowsTile {
  int row_tiles = 1, panels = 1;   // of a block: eight rows, 16 columns
  int warps = 8;                   // which share the sum over k
  int room_bytes() const { return warps * 8 * row_tiles * (16 * panels + 4) * 4; }   // static shared memory
};
struct ManyRowsTile {
  int row_tiles = 8, panels = 2;   // eight rows of a block, 16 columns of a warp
  int warps = 4, stages = 4;
  int shared_bytes(const BlockScaledProblem& p) const;
};
inline constexpr int kBlockScaledThreads = 64;   // of `elements`

// All take BlockScaledArguments.
// Exports `vectors`, for rows at multiples of 16 bytes that hold a multiple of four elements, and `singles`; grid: columns, rows.
std::string generate_block_scaled_few(const BlockScaledProblem& p, const FewRowsTile& tile);
// Exports `many`; p.gemm.vectors: as GemmProblem says. Grid: blocks of columns times blocks of rows.
std::string generate_block_scaled_many(const BlockScaledProblem& p, const ManyRowsTile& tile);
// Exports `elements`; grid: blocks of columns times rows.
std::string generate_block_scaled_elements(const BlockScaledProblem& p);

}  // namespace tenfold::backends::cuda
