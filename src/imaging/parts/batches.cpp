// Windows of a batch follow each other in the whole grid, too: those of a band begin anew with each plane.
#include "parts/batches.h"

#include <algorithm>

namespace tenfold::imaging {

Batches::Batches(const windows::Grid& grid, const Part& part, std::int64_t images, std::int64_t batch,
                 bool across_images)
    : whole_(grid),
      grid_(part_grid(grid, part)),
      part_(part),
      per_image_(windows::count(grid_)),
      group_(per_image_ / static_cast<std::int64_t>(grid_[0].starts.size())),
      total_(images * per_image_),
      batch_(batch),
      across_images_(across_images && per_image_ == windows::count(grid)),
      across_planes_(part.all_rows(grid)) {}

std::int64_t Batches::count(std::int64_t first) const {
  const std::int64_t of_image = first % per_image_;
  const std::int64_t left = across_images_   ? total_ - first
                            : across_planes_ ? per_image_ - of_image
                                             : group_ - of_image % group_;
  return std::min(batch_, left);
}

Range Batches::planes(std::int64_t first, std::int64_t count) const {
  const windows::Axis& axis = grid_[0];
  if (axis.padded > axis.image) return {0, axis.image};
  const auto start = [&](std::int64_t window) {
    return axis.starts[static_cast<std::size_t>(window % per_image_ / group_)];
  };
  return {start(first), start(first + count - 1) + axis.roi};
}

std::int64_t Batches::number(std::int64_t window) const {
  std::vector<std::size_t> at = windows::indices(grid_, window % per_image_);
  at[0] += part_.plane_start, at[1] += part_.row_start;
  std::int64_t number = window / per_image_;
  for (std::size_t a = 0; a < whole_.size(); ++a)
    number = number * static_cast<std::int64_t>(whole_[a].starts.size()) + static_cast<std::int64_t>(at[a]);
  return number;
}

std::int64_t Batches::max_planes() const {
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < per_image_; first += count(first))
    most = std::max(most, planes(first, count(first)).count());
  return most;
}

}  // namespace tenfold::imaging
