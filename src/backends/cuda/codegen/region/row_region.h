// Kernels for bodies that reduce the last dims of their space: chains of pointwise operators, casts, broadcasts and reductions in one
// kernel. Rows that registers can hold, of a block or of a cluster of blocks, are read once; of longer ones each walk reads its elements
// again, and where there are few of them several blocks share a row: a kernel for each walk, which leave their parts of the sums in memory.
#pragma once

#include <string>

#include "backends/cuda/codegen/index_space.h"
#include "backends/cuda/codegen/region/row_phases.h"

namespace tenfold::backends::cuda {

struct RowRegionProblem {
  ir::Body body;
  ir::Dims outer, row;                        // the space: rows, and what is reduced
  std::vector<OperandDesc> in, out;           // of the problem ...
  std::vector<OperandDesc> in_outer, out_outer, in_row, out_row;  // ... and along each half of the space, as strided views
  std::vector<bool> narrow_in, narrow_out;    // one number for each row
  const ir::SymbolBounds* box = nullptr;
  bool clusters = false;                      // the device has them
};

struct RowRegionKernel {
  std::string source;   // exports whole_W, and with `shares` walkI_W for each walk, W = vectors and singles
  IndexSpace outer, row;
  int width = 1;        // elements that `vectors` reads at once
  int threads = 32, rows_per_block = 1;
  int cluster = 1;      // blocks of a row, by vectors
  int walks = 1;
  bool shares = false;
};
// Several blocks for a row: at most so many, and so many for all rows together, for which there is room in the workspace.
inline constexpr int kRowRegionThreads = 512, kMaxRowShares = 512, kRowSharesOfAll = 1056;

Verdict can_generate(const RowRegionProblem& p);
RowRegionKernel generate_row_region(const RowRegionProblem& p);

}  // namespace tenfold::backends::cuda
