// Windows of an image as one dense array, converted and padded on the way.
#pragma once

#include <cstddef>
#include <vector>

#include "base/threads/parallel.h"
#include "windows/axis.h"

namespace tenfold::windows {

// An image where it lies: [channel, axes of the grid...], dense within a plane.
struct ImageView {
  const std::byte* data = nullptr;
  DType dtype = DType::f32;
  std::int64_t channels = 1;
  std::int64_t planes = 1;          // of the first axis that are there: plane z lies at z % planes
};

// How images of a grid are cut: the padding of each axis, and the types. Throws invalid_argument for other types.
class Cutter {
 public:
  Cutter(const Grid& grid, WindowPadding padding, double cval);
  // Window `window` of an image as [channel, roi...] at `to`, and so on for `count` windows, each of the image that
  // `views` gives it.
  struct Cut { ImageView image; std::int64_t window; };
  void cut(std::span<const Cut> cuts, DType dtype, void* to, Parallel& parallel) const;
  Cutter on(const Grid& grid) const { return {grid, padding_, cval_}; }   // the same of another grid
  std::int64_t window_elements() const { return elements_; }   // of one channel

 private:
  struct Rows;
  void cut_plane(const Rows& rows, std::int64_t channel, std::int64_t plane, std::byte* to) const;
  void cut_rows(const Rows& w, std::int64_t section, std::byte* to) const;
  void pad_row(std::byte* row, std::size_t size, const std::byte* constant) const;
  Grid grid_;
  WindowPadding padding_;
  double cval_;
  std::vector<std::vector<std::int64_t>> maps_;
  std::int64_t elements_ = 1;
};

void check_image_type(DType from, DType to);   // throws invalid_argument

}  // namespace tenfold::windows
