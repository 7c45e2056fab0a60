// Kernels of Resize: a thread walks down a strip of rows of the result and keeps the rows of the source that it has resampled along the
// other axes, for neighbouring results are mixed of the same ones.
#pragma once

#include <cstdint>
#include <string>

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

inline constexpr int kResizeThreads = 256;

// Three spatial axes, the innermost last; those that a problem lacks have extent 1. Strides of x: batch, channel, spatial.
struct ResizeArguments {
  const void* x;
  const void* scales;   // of the spatial axes; null where sizes decide, and `scale` holds what they make of the spatial ones
  void* y;
  std::int64_t items, channels, x_strides[5];
  std::int32_t in[3], out[3];
  float scale[3];
  std::uint32_t strips;       // in all depths
  std::uint32_t by_windows;   // the source may be read `window` elements at a time
  std::int32_t rows;          // of a strip
};

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
