// The windows of a part, batch by batch, and the planes that they need.
#pragma once

#include "parts/part.h"

namespace tenfold::imaging {

class Batches {
 public:
  // `batch`: the most windows of one. `across_images`: of all results of a source in memory.
  Batches(const windows::Grid& grid, const Part& part, std::int64_t images, std::int64_t batch, bool across_images);

  const windows::Grid& grid() const { return grid_; }
  std::int64_t per_image() const { return per_image_; }
  std::int64_t total() const { return total_; }
  // Of the batch that begins at window `first` of the part, counted over all images.
  std::int64_t count(std::int64_t first) const;
  Range planes(std::int64_t first, std::int64_t count) const;   // of the image
  // The number of a window among those of all images, which are not of the part alone.
  std::int64_t number(std::int64_t window) const;
  std::int64_t max_planes() const;

 private:
  windows::Grid whole_, grid_;
  Part part_;
  std::int64_t per_image_, group_, total_, batch_;
  bool across_images_, across_planes_;
};

}  // namespace tenfold::imaging
