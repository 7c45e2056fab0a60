// Kernels of Resize: a thread walks down a strip of rows of the result and keeps the rows of the source that it has resampled along the
// other axes, for neighboring results are mixed of the same ones.
#pragma once

#include <string>

#include "backends/cuda/kernels/resize/resize_args.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

inline constexpr int kResizeThreads = 256;

struct ResizeKernel {
  std::string source;        // exports `vectors` and `singles`
  int width = 1;             // elements a thread of `vectors` writes at once: of a row, or channels of a position
  bool apart = false;        // they do not lie side by side: no vector divides a row
  int window = 0;            // elements of a row of the source that these lie over; 0: any
};

// Elements of the source that an element of the result mixes along an axis; 0: a mode that there is no kernel for.
int resize_taps_of(const Problem& p);
int resize_transform_of(const Problem& p);   // < 0: likewise
ResizeKernel generate_resize(const Problem& p, int rows, int blocks);   // rows of a strip, blocks of a multiprocessor

}  // namespace tenfold::backends::cuda
