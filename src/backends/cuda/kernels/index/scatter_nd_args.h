// What the kernel of scatter_nd_elements.cu is given; `block`: elements of a slice; extents and strides of the dims of y that are indexed.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// By types for the kernel: from casts of void* NVRTC may make other code. The tactic has it of void.
template <class Element, class Index> struct ScatterNdArgumentsOf {
  const Index* index;
  const Element* updates;
  Element* y;
  unsigned* bad_index;
  i64 elements, block, dims[8], strides[8];
};
using ScatterNdArguments = ScatterNdArgumentsOf<void, void>;
static_assert(sizeof(ScatterNdArguments) == 176 && TENFOLD_OFFSET(ScatterNdArguments, elements) == 32 &&
              TENFOLD_OFFSET(ScatterNdArguments, strides) == 112);

}  // namespace tenfold::backends::cuda
