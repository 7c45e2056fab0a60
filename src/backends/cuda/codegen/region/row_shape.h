// How the threads of a row kernel share a row.
#pragma once

#include "backends/cuda/codegen/region/row_region.h"

namespace tenfold::backends::cuda {

struct RowShape {
  std::int64_t length = -1;   // of a row; -1: only a run knows
  int width = 1, threads = kRowRegionThreads, rows_per_block = 1, cluster = 1;
  bool held = false, keeps = false;   // the row, and what later walks need again, in registers
};
RowShape row_shape(const RowRegionProblem& p, const IndexSpace& outer, const IndexSpace& row);

// Inputs, then outputs.
std::vector<const OperandDesc*> pointers(const std::vector<OperandDesc>& in, const std::vector<OperandDesc>& out);

}  // namespace tenfold::backends::cuda
