// Which windows are computed at once, and what they need of an image.
#pragma once

#include <algorithm>

#include "windows/window_state.h"

namespace tenfold::windows {

// What some windows need of the first axis of an image: [begin, end).
struct Planes { std::int64_t begin, end; };

// `across_images`: a batch may hold windows of several images.
struct Batches {
  const WindowState& windows;
  std::int64_t per_image, total, batch;
  bool across_images;

  std::int64_t count(std::int64_t first) const {
    const std::int64_t left = across_images ? total - first : per_image - first % per_image;
    return std::min(batch, left);
  }
  Planes planes(std::int64_t first, std::int64_t count) const {
    const Axis& axis = windows.grid[0];
    if (axis.padded > axis.image) return {0, axis.image};
    const std::int64_t group = per_image / static_cast<std::int64_t>(axis.starts.size());
    const auto start = [&](std::int64_t window) {
      return axis.starts[static_cast<std::size_t>(window % per_image / group)];
    };
    return {start(first), start(first + count - 1) + axis.roi};
  }
  std::int64_t max_planes() const {
    std::int64_t most = 0;
    for (std::int64_t first = 0; first < per_image; first += count(first)) {
      const Planes needed = planes(first, count(first));
      most = std::max(most, needed.end - needed.begin);
    }
    return most;
  }
};

}  // namespace tenfold::windows
