// Which windows a part of the results needs follows from the voxels of each output that it is made of.
#include "parts/part.h"

#include <algorithm>

#include "base/check.h"

namespace tenfold::imaging {
namespace {

void check_grid(const Shape& grid, std::size_t interpolations, std::size_t rank) {
  require(grid.size() == rank && std::all_of(grid.begin(), grid.end(), [](std::int64_t n) { return n > 0; }),
          ErrorKind::invalid_argument, "grid [", text(grid), "]: expected ", rank,
          " extents of at least 1, one for each spatial axis of the image");
  require(interpolations == 1 || interpolations == rank, ErrorKind::invalid_argument, "interpolation has ",
          interpolations, " values, the image ", rank, " spatial axes; expected one for all of them or one for each");
}

windows::OutputAxis whole_axis(const windows::Grid& grid, const OutputOptions& options, const Shape& output,
                               std::size_t axis) {
  return windows::output_axis(grid[axis], axis < options.lifted ? 1 : output[1 + axis - options.lifted]);
}

windows::ResampleAxis resampled_axis(const windows::OutputAxis& axis, const OutputOptions& options,
                                     std::size_t number) {
  const std::size_t own = number - options.lifted;
  const bool lifted = number < options.lifted;
  return windows::resample_axis(
      axis.crop_end - axis.crop_begin, options.extents[number],
      lifted ? GridInterpolation::nearest : options.interpolation[options.interpolation.size() == 1 ? 0 : own]);
}

// Of an axis of an output: its results in a range of all results, and the means that these are made of, in the padded
// output.
struct AxisPart { Range results, means; };

AxisPart axis_part(const windows::OutputAxis& axis, const OutputOptions& options, std::size_t number, Range wanted) {
  AxisPart part;
  if (!options.grid.empty()) {
    part.results = wanted;
    const windows::ResampleAxis::Range needs = resampled_axis(axis, options, number).needs(wanted.begin, wanted.end);
    part.means = {axis.crop_begin + needs.begin, axis.crop_begin + needs.end};
  } else {
    const std::int64_t own = axis.crop_end - axis.crop_begin, all = options.extents[number];
    part.results = {wanted.begin * own / all, wanted.end * own / all};
    part.means = {axis.crop_begin + part.results.begin, axis.crop_begin + part.results.end};
  }
  return part;
}

// Windows whose voxels that count lie in the range, the first and the one after the last.
struct Covering { std::size_t begin, end; };

Covering covering(const windows::OutputAxis& axis, Range means) {
  Covering found{axis.starts.size(), 0};
  for (std::size_t i = 0; i < axis.starts.size(); ++i) {
    const std::int64_t begin = axis.starts[i] + (i == 0 ? 0 : axis.halo),
                       end = axis.starts[i] + axis.roi - (i + 1 == axis.starts.size() ? 0 : axis.halo);
    if (begin < means.end && end > means.begin) found = {std::min(found.begin, i), i + 1};
  }
  return found;
}

}  // namespace

OutputOptions::OutputOptions(const windows::WindowState& windows, std::int64_t number, const StitchOptions& options)
    : images(number),
      lifted(windows.grid.size() - windows.image.size()),
      how{options.activation, options.reduction, static_cast<float>(options.threshold)},
      grid(options.grid),
      interpolation(options.interpolation),
      extents(lifted, 1) {
  if (!grid.empty()) check_grid(grid, interpolation.size(), windows.image.size());
  const Shape& results = grid.empty() ? windows.image : grid;
  extents.insert(extents.end(), results.begin(), results.end());
}

Part whole_part(const windows::Grid& grid, const OutputOptions& options) {
  return {{0, options.extents[0]}, {0, options.extents[1]}, 0, 0, grid[1].starts.size()};
}

Part make_part(const windows::Grid& grid, const OutputOptions& options, std::span<const Shape> outputs, Range planes,
               Range rows) {
  Part part = whole_part(grid, options);
  part.planes = planes, part.rows = rows;
  if (planes.begin > 0) part.plane_start = grid[0].starts.size() - 1;
  if (rows != Range{0, options.extents[1]}) part.row_start = grid[1].starts.size() - 1, part.row_end = 0;
  for (const Shape& output : outputs) {
    const windows::OutputAxis first = whole_axis(grid, options, output, 0),
                              second = whole_axis(grid, options, output, 1);
    const Covering by_plane = covering(first, axis_part(first, options, 0, planes).means),
                   by_row = covering(second, axis_part(second, options, 1, rows).means);
    part.plane_start = std::min(part.plane_start, by_plane.begin);
    part.row_start = std::min(part.row_start, by_row.begin), part.row_end = std::max(part.row_end, by_row.end);
  }
  part.row_end = std::max(part.row_end, part.row_start + 1);   // of outputs that have no row there
  return part;
}

windows::Grid part_grid(const windows::Grid& grid, const Part& part) {
  windows::Grid some = grid;
  const auto at = [](std::vector<std::int64_t>& starts, std::size_t i) {
    return starts.begin() + static_cast<std::ptrdiff_t>(i);
  };
  some[0].starts.erase(some[0].starts.begin(), at(some[0].starts, part.plane_start));
  if (part.all_rows(grid)) return some;
  windows::Axis& rows = some[1];
  rows.starts = {at(rows.starts, part.row_start), at(rows.starts, part.row_end)};
  const std::int64_t first = rows.starts.front();
  for (std::int64_t& start : rows.starts) start -= first;
  rows.image = rows.padded = rows.starts.back() + rows.roi;
  return some;
}

Range image_rows(const windows::Grid& grid, const Part& part) {
  const windows::Axis& rows = grid[1];
  if (part.all_rows(grid)) return {0, rows.image};
  return {rows.starts[part.row_start], rows.starts[part.row_end - 1] + rows.roi};   // which has no padding
}

OutputPart output_part(const windows::Grid& grid, const OutputOptions& options, const Shape& output, const Part& part) {
  OutputPart result;
  for (std::size_t a = 0; a < grid.size(); ++a) {
    windows::OutputAxis axis = whole_axis(grid, options, output, a);
    const std::int64_t whole = options.grid.empty() ? axis.crop_end - axis.crop_begin : options.extents[a];
    const AxisPart some = axis_part(axis, options, a,
                                    a == 0   ? part.planes
                                    : a == 1 ? part.rows
                                             : Range{0, options.extents[a]});
    if (!options.grid.empty())
      result.resampled.push_back(resampled_axis(axis, options, a).part(some.results.begin, some.results.end));
    axis.crop_begin = some.means.begin, axis.crop_end = some.means.end;
    if (a == 0)
      axis.starts.erase(axis.starts.begin(), axis.starts.begin() + static_cast<std::ptrdiff_t>(part.plane_start));
    if (a == 1 && !part.all_rows(grid)) {
      const std::int64_t first = axis.starts[part.row_start];
      axis.starts = {axis.starts.begin() + static_cast<std::ptrdiff_t>(part.row_start),
                     axis.starts.begin() + static_cast<std::ptrdiff_t>(part.row_end)};
      for (std::int64_t& start : axis.starts) start -= first;
      axis.padded = axis.starts.back() + axis.roi, axis.crop_begin -= first, axis.crop_end -= first;
    }
    result.axes.push_back(std::move(axis));
    if (a < options.lifted) continue;
    result.whole.push_back(whole);
    result.begin.push_back(some.results.begin), result.extent.push_back(some.results.count());
  }
  return result;
}

}  // namespace tenfold::imaging
