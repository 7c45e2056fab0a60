// As many rows of windows as fit, from the first one on.
#include "sweep/bands.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "parts/batches.h"
#include "sweep/slab.h"
#include "windows/resampler.h"

namespace tenfold::imaging {
namespace {

// Sums, divisors, and planes on their way to the sink.
std::int64_t memory_of_output(const SweepShape& shape, const Part& part, const Shape& output) {
  const OutputPart own = output_part(shape.windows.grid, shape.options, output, part);
  std::int64_t section = 1, results = 1;
  for (std::size_t a = 1; a < own.axes.size(); ++a) section *= own.axes[a].padded;
  for (std::size_t a = 1 - shape.options.lifted; a < own.extent.size(); ++a) results *= own.extent[a];
  const std::int64_t channels = output[0], roi = own.axes[0].roi;
  const std::int64_t sums = 4 * (channels + 1) * roi * section,
                     plane =
                         byte_size(shape.options.how.dtype(channels), shape.options.how.channels(channels) * results);
  if (own.resampled.empty()) return sums + roi * plane;
  const windows::ResampleAxis& planes = own.resampled[0];
  return sums + windows::Resampler::memory(own.resampled, channels) + (planes.extent() / planes.from + 1) * plane;
}

[[noreturn]] void refuse(const SweepShape& shape, std::int64_t memory, const SweepMemory& needed,
                         const SweepMemory& single) {
  const bool several = shape.batch > 1;
  fail(ErrorKind::invalid_argument,
       cat("memory ", memory, ": a band of one row of windows needs ", needed.total(), " bytes: ", needed.planes,
           " of planes, ", needed.sums, " of sums, ", needed.batch, " of a batch of ", shape.batch,
           " windows; expected at least ", needed.total(),
           several ? cat(", or ", single.total(), " with a batch of 1") : std::string(), ", or a smaller roi"));
}

}  // namespace

std::vector<std::int64_t> possible_ends(const windows::Axis& axis, std::int64_t rows, std::int64_t align) {
  std::vector<std::int64_t> ends;
  for (std::size_t i = 1; i < axis.starts.size(); ++i) {
    const std::int64_t row = ((axis.starts[i] + axis.halo) * rows + axis.image - 1) / axis.image;
    const std::int64_t end = (row + align - 1) / align * align;
    if (end < rows && (ends.empty() || end > ends.back())) ends.push_back(end);
  }
  ends.push_back(rows);
  return ends;
}

SweepMemory memory_of(const SweepShape& shape, const Part& part) {
  SweepMemory memory;
  const windows::Grid& grid = shape.windows.grid;
  if (shape.chunk > 0) {
    const Batches batches(grid, part, 1, shape.batch, false);
    const windows::Axis& axis = grid[0];
    const std::int64_t planes = part.all_rows(grid) ? batches.max_planes() : std::min(axis.roi, axis.image);
    std::int64_t section = 1;
    for (std::size_t a = 1; a < grid.size(); ++a) section *= batches.grid()[a].image;
    const std::int64_t plane = byte_size(shape.from, shape.channels * section),
                       group = plane * std::min(axis.image, shape.chunk);
    memory.planes = Slab::memory(planes, axis.image, shape.chunk, plane) +
                    static_cast<std::int64_t>(std::ceil(shape.overhead * static_cast<double>(group)));
  }
  std::int64_t window = byte_size(shape.input, shape.channels * element_count(shape.windows.roi));
  for (const Shape& output : shape.outputs) {
    memory.sums += memory_of_output(shape, part, output);
    window += byte_size(DType::f32, element_count(output));
  }
  memory.batch = shape.batch * window;
  return memory;
}

std::vector<std::int64_t> cut_bands(const SweepShape& shape, std::int64_t memory, std::int64_t align, Range rows) {
  require(memory >= 0, ErrorKind::invalid_argument, "memory ", memory, ": expected bytes, or 0 for no bound");
  require(align > 0, ErrorKind::invalid_argument, "bands of a multiple of ", align, " rows: expected at least 1");
  if (memory == 0) return {rows.end};
  const auto needed = [&](std::int64_t begin, std::int64_t end) {
    const Range planes{0, shape.options.extents[0]};
    return memory_of(shape, make_part(shape.windows.grid, shape.options, shape.outputs, planes, {begin, end}));
  };
  if (needed(rows.begin, rows.end).total() <= memory) return {rows.end};
  std::vector<std::int64_t> ends;
  for (const std::int64_t end : possible_ends(shape.windows.grid[1], shape.options.extents[1], align))
    if (end > rows.begin && end < rows.end) ends.push_back(end);
  ends.push_back(rows.end);
  SweepMemory least;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const SweepMemory one = needed(i == 0 ? rows.begin : ends[i - 1], ends[i]);
    if (one.total() > least.total()) least = one;
  }
  SweepMemory single = least;
  single.batch /= shape.batch;
  if (least.total() > memory) refuse(shape, memory, least, single);
  std::vector<std::int64_t> bands;
  std::int64_t begin = rows.begin;
  for (std::size_t i = 0; i < ends.size(); ++i)
    if (i + 1 == ends.size() || needed(begin, ends[i + 1]).total() > memory) bands.push_back(begin = ends[i]);
  return bands;
}

}  // namespace tenfold::imaging
