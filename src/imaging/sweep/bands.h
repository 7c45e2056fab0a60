// What a sweep needs of memory, and the bands of rows that fit.
#pragma once

#include <span>
#include <vector>

#include "parts/part.h"

namespace tenfold::imaging {

struct SweepShape {
  const windows::WindowState& windows;
  OutputOptions options;
  std::vector<Shape> outputs;        // [channel, roi...] of a window
  std::int64_t channels;             // of the source
  DType from, input;                 // of the source, and of windows
  std::int64_t chunk;                // planes that are read together; 0: the source lies in memory
  double overhead;                   // of the source
  std::int64_t batch;                // windows of a call
};

// Bytes, without what predictors need for themselves.
struct SweepMemory {
  std::int64_t planes = 0, sums = 0, batch = 0;
  std::int64_t total() const { return planes + sums + batch; }
};
SweepMemory memory_of(const SweepShape& shape, const Part& part);

// Rows of results where windows begin, multiples of `align`, and the last one.
std::vector<std::int64_t> possible_ends(const windows::Axis& axis, std::int64_t rows, std::int64_t align);

// Bands of these rows of results whose memory is at most `memory` (0: no bound): their ends, multiples of `align` but for
// the last. They end where windows begin. Throws invalid_argument where one row of windows needs more.
std::vector<std::int64_t> cut_bands(const SweepShape& shape, std::int64_t memory, std::int64_t align, Range rows);
inline std::vector<std::int64_t> cut_bands(const SweepShape& shape, std::int64_t memory, std::int64_t align) {
  return cut_bands(shape, memory, align, {0, shape.options.extents[1]});
}

}  // namespace tenfold::imaging
