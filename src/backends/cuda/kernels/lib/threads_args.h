// What kernels with a thread for each element are given (threads.cuh).
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// Where it lies, its extents and strides; those of a missing one are all 0.
struct ThreadsOperand {
  void* p;
  i64 d[8], s[8];
};
// One input at least. The host, which knows the numbers only when it runs, puts the parts behind each other.
template <int INPUTS_OF, int OUTPUTS_OF> struct ThreadsArgumentsOf {
  ThreadsOperand in[INPUTS_OF], out[OUTPUTS_OF];
  i64 count;             // of elements
  unsigned* bad_index;   // where a wrong index is noted
};
using ThreadsArgumentsOfTwoAndOne = ThreadsArgumentsOf<2, 1>;
static_assert(sizeof(ThreadsOperand) == 136 && TENFOLD_OFFSET(ThreadsArgumentsOfTwoAndOne, count) == 3 * sizeof(ThreadsOperand) &&
              sizeof(ThreadsArgumentsOfTwoAndOne) == 3 * sizeof(ThreadsOperand) + 16);

}  // namespace tenfold::backends::cuda
