// What the kernel of gather_elements_threads.cu is given; strides and extents of x, extents of y, which is dense, as the indices are.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// By types for the kernel: from casts of void* NVRTC may make other code. The tactic has it of void.
template <class Element, class Index> struct GatherElementsArgumentsOf {
  const Element* x;
  const Index* index;
  Element* y;
  unsigned* bad_index;
  i64 elements, x_dims[8], x_strides[8], y_dims[8];
};
using GatherElementsArguments = GatherElementsArgumentsOf<void, void>;
static_assert(sizeof(GatherElementsArguments) == 232 && TENFOLD_OFFSET(GatherElementsArguments, elements) == 32 &&
              TENFOLD_OFFSET(GatherElementsArguments, y_dims) == 168);

}  // namespace tenfold::backends::cuda
