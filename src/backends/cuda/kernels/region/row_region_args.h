// What kernels that walk rows are given (row_region.cuh): operands, rows, vectors of a row that a block walks where blocks share one, and
// what these found; numbers of both halves of the index space that only a run knows.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// One input and one number of each half at least. The host, which knows how many there are only when it runs, puts the parts behind each
// other.
template <int INPUTS_OF, int OUTPUTS_OF, int NUMBERS_OF, int ROW_NUMBERS_OF> struct RowRegionArgumentsOf {
  const void* in[INPUTS_OF];
  void* out[OUTPUTS_OF];
  i64 rows, chunk;
  float* parts;
  i64 n[NUMBERS_OF], m[ROW_NUMBERS_OF];
};
using RowRegionArgumentsOfTwoOneThreeOne = RowRegionArgumentsOf<2, 1, 3, 1>;
static_assert(sizeof(RowRegionArgumentsOfTwoOneThreeOne) == 80 && TENFOLD_OFFSET(RowRegionArgumentsOfTwoOneThreeOne, parts) == 40 &&
              TENFOLD_OFFSET(RowRegionArgumentsOfTwoOneThreeOne, m) == 72);

}  // namespace tenfold::backends::cuda
