// What elementwise kernels are given (elements.cu): operands, and the numbers of their index space that only a run knows.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// One input and one number at least. The host, which knows how many there are only when it runs, puts the parts behind each other.
template <int INPUTS_OF, int OUTPUTS_OF, int NUMBERS_OF> struct ElementsArgumentsOf {
  const void* in[INPUTS_OF];
  void* out[OUTPUTS_OF];
  i64 n[NUMBERS_OF];
};
using ElementsArgumentsOfTwoOneThree = ElementsArgumentsOf<2, 1, 3>;
static_assert(sizeof(ElementsArgumentsOfTwoOneThree) == 48 && TENFOLD_OFFSET(ElementsArgumentsOfTwoOneThree, n) == 24);

}  // namespace tenfold::backends::cuda
