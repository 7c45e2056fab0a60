// Windows along the axes of an image: where they begin, and how the image is padded for them.
#pragma once

#include <cstdint>
#include <vector>

#include "tenfold/sliding_window.h"

namespace tenfold::windows {

struct Axis {
  std::int64_t image = 1, roi = 1, padded = 1;
  std::int64_t before = 0;                  // of the padding, in front
  std::int64_t halo = 0;
  std::vector<std::int64_t> starts;         // in the padded image, ascending
};
// Always 2 to 4 axes: an image of one axis is one plane of it, so that planes and rows are two axes everywhere.
using Grid = std::vector<Axis>;

std::int64_t count(const Grid& grid);
// The indices of a window along each axis; the last varies fastest.
std::vector<std::size_t> indices(const Grid& grid, std::int64_t window);

// The window that options ask for along an axis: 0 and less is the image's extent.
Axis make_axis(std::int64_t image, std::int64_t roi, double overlap, std::int64_t halo, WindowPlacement placement);

// For each coordinate of the padded axis, the image's coordinate whose value it has; -1: the padding's constant.
std::vector<std::int64_t> padding_map(const Axis& axis, WindowPadding padding);

// The same axis of an output of `roi` voxels for each window.
struct OutputAxis {
  std::int64_t roi = 1, padded = 1;
  std::int64_t crop_begin = 0, crop_end = 1;   // of the padded axis: what belongs to the image
  std::int64_t halo = 0;
  std::vector<std::int64_t> starts;
};
OutputAxis output_axis(const Axis& axis, std::int64_t roi);

}  // namespace tenfold::windows
