// What the kernels of resize_strips.cu are given. Three spatial axes, the innermost last; those that a problem lacks have extent 1. Strides
// of x: batch, channel, spatial.
#pragma once
#include "backends/cuda/kernels/lib/shared.h"

namespace tenfold::backends::cuda {

// By element type for the kernels: from casts of void* NVRTC may make other code. The tactic has it of void.
template <class Element, class Scale> struct ResizeArgumentsOf {
  const Element* x;
  const Scale* scales;   // of the spatial axes; null where sizes decide, and `scale` holds what they make of the spatial ones
  Element* y;
  i64 items, channels, x_strides[5];
  int in[3], out[3];
  float scale[3];
  unsigned strips;       // in all depths
  unsigned by_windows;   // the source may be read WINDOW elements at a time
  int rows;              // of a strip
};
using ResizeArguments = ResizeArgumentsOf<void, void>;
static_assert(sizeof(ResizeArguments) == 128 && TENFOLD_OFFSET(ResizeArguments, in) == 80 && TENFOLD_OFFSET(ResizeArguments, rows) == 124);

}  // namespace tenfold::backends::cuda
