// What the kernels of pad_elements.cu are given. Dims in the order of the result's memory, the innermost last; `axis` says which of the
// operator's each is.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// By types for the kernels: from casts of void* NVRTC may make other code. The tactic has it of void.
template <class Element, class Axis> struct PadArgumentsOf {
  const Element* x;
  const i64* pads;
  const Axis* axes;   // axes and value may be left out
  const Element *value, *x_end;
  Element* y;
  i64 count, total, x_dims[8], x_strides[8], y_dims[8], axis[8];
};
using PadArguments = PadArgumentsOf<void, void>;
static_assert(sizeof(PadArguments) == 320 && TENFOLD_OFFSET(PadArguments, count) == 48 && TENFOLD_OFFSET(PadArguments, axis) == 256);

}  // namespace tenfold::backends::cuda
