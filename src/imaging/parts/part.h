// A part of the results of a sweep: planes from one on, and a band of rows; and the windows that it needs.
#pragma once

#include <span>
#include <vector>

#include "windows/finish.h"
#include "windows/resample_axis.h"
#include "windows/window_state.h"

namespace tenfold::imaging {

// What all outputs of a call have in common.
struct OutputOptions {
  OutputOptions(const windows::WindowState& windows, std::int64_t images, const StitchOptions& options);

  std::int64_t images;
  std::size_t lifted;                // axes that the windows' grid has in front of the image's
  windows::Finish how;
  Shape grid;                        // empty: none
  std::vector<GridInterpolation> interpolation;
  Shape extents;  // of results along the axes of the windows' grid: those of `grid`, else the image's
};

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

struct Part {
  Range planes, rows;                // of results: OutputOptions::extents of the first two axes
  // Windows along the first axis from `plane_start` on, and those from `row_start` to row_end - 1 along the second.
  std::size_t plane_start = 0, row_start = 0, row_end = 0;

  bool all_rows(const windows::Grid& grid) const { return row_end - row_start == grid[1].starts.size(); }
};
Part whole_part(const windows::Grid& grid, const OutputOptions& options);
// `outputs`: [channel, roi...] of each.
Part make_part(const windows::Grid& grid, const OutputOptions& options, std::span<const Shape> outputs, Range planes,
               Range rows);
// The axes of a part, whose windows are counted from 0. Along the second axis coordinates begin with its first window.
windows::Grid part_grid(const windows::Grid& grid, const Part& part);
// Rows of the image that the windows of a part need; all of them where it has all windows.
Range image_rows(const windows::Grid& grid, const Part& part);

// An output's share of a part.
struct OutputPart {
  std::vector<windows::OutputAxis> axes;          // cropped to the part
  std::vector<windows::ResampleAxis> resampled;   // of the cropped axes to the grid; empty: none
  Shape whole;                                    // spatial extents of all results, and those of the part
  Shape begin, extent;
};
OutputPart output_part(const windows::Grid& grid, const OutputOptions& options, const Shape& output, const Part& part);

}  // namespace tenfold::imaging
