// A window is cut row by row. Only an axis that is shorter than the window is padded, and then its one window covers
// all of it.
#include "windows/cut.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "windows/row_kernels.h"

namespace tenfold::windows {

// One window of one image, and how its elements are converted.
struct Cutter::Rows {
  ImageView image;
  std::vector<std::int64_t> starts;
  ConvertRow convert;
  std::size_t from_size, to_size;
  std::array<std::byte, 8> constant;
};

void check_image_type(DType from, DType to) {
  require(row_converter(from, from) != nullptr, ErrorKind::invalid_argument, "images of type ", name(from),
          ": expected u8, u16, i16, i32, f16, bf16, f32 or f64; convert them first");
  require(row_converter(from, to) != nullptr, ErrorKind::invalid_argument, "windows of type ", name(to),
          " from images of type ", name(from), ": expected ", name(from), ", f32, f64, f16 or bf16");
}

Cutter::Cutter(const Grid& grid, WindowPadding padding, double cval)
    : grid_(grid), padding_(padding), cval_(cval) {
  for (const Axis& axis : grid) {
    maps_.push_back(padding_map(axis, padding));
    elements_ *= axis.roi;
  }
}

// The elements around those of the image, which lie in their places already.
void Cutter::pad_row(std::byte* row, std::size_t size, const std::byte* constant) const {
  const Axis& axis = grid_.back();
  const std::vector<std::int64_t>& map = maps_.back();
  for (std::int64_t i = 0; i < axis.roi; ++i) {
    if (i == axis.before) i += axis.image;
    if (i == axis.roi) break;
    const std::int64_t from = map[static_cast<std::size_t>(i)];
    std::memcpy(row + static_cast<std::size_t>(i) * size,
                from < 0 ? constant : row + static_cast<std::size_t>(axis.before + from) * size, size);
  }
}

// All rows of a plane of the window; two axes at most lie between planes and rows.
void Cutter::cut_plane(const Rows& w, std::int64_t channel, std::int64_t plane, std::byte* to) const {
  const Axis& line = grid_.back();
  const std::size_t middle = grid_.size() - 2;   // axes between the first and the last
  std::int64_t rows = 1;
  for (std::size_t a = 1; a <= middle; ++a) rows *= grid_[a].roi;
  const std::size_t row_bytes = static_cast<std::size_t>(line.roi) * w.to_size;
  const std::int64_t z = maps_[0][static_cast<std::size_t>(w.starts[0] + plane)];
  for (std::int64_t row = 0; row < rows; ++row, to += row_bytes) {
    std::array<std::int64_t, 4> at{z < 0 ? -1 : z % w.image.planes};
    bool outside = z < 0;
    for (std::int64_t a = static_cast<std::int64_t>(middle), rest = row; a >= 1; --a) {
      const auto axis = static_cast<std::size_t>(a);
      at[axis] = maps_[axis][static_cast<std::size_t>(w.starts[axis] + rest % grid_[axis].roi)];
      rest /= grid_[axis].roi;
      outside = outside || at[axis] < 0;
    }
    if (outside) {
      for (std::int64_t i = 0; i < line.roi; ++i)
        std::memcpy(to + static_cast<std::size_t>(i) * w.to_size, w.constant.data(), w.to_size);
      continue;
    }
    std::int64_t from = channel * w.image.planes + at[0];
    for (std::size_t a = 1; a <= middle; ++a) from = from * grid_[a].image + at[a];
    from = from * line.image + (line.padded > line.image ? 0 : w.starts.back());
    const std::byte* const source = w.image.data + static_cast<std::size_t>(from) * w.from_size;
    w.convert(source, to + static_cast<std::size_t>(line.before) * w.to_size, std::min(line.roi, line.image));
    if (line.padded > line.image) pad_row(to, w.to_size, w.constant.data());
  }
}

void Cutter::cut(std::span<const Cut> cuts, DType dtype, void* to, Parallel& parallel) const {
  if (cuts.empty()) return;
  std::vector<Rows> windows;
  for (const auto& [image, window] : cuts) {
    check_image_type(image.dtype, dtype);
    Rows one{image, {}, row_converter(image.dtype, dtype), static_cast<std::size_t>(byte_size(image.dtype, 1)),
             static_cast<std::size_t>(byte_size(dtype, 1)), {}};
    const std::vector<std::size_t> at = indices(grid_, window);
    for (std::size_t a = 0; a < grid_.size(); ++a) one.starts.push_back(grid_[a].starts[at[a]]);
    store_value(cval_, dtype, one.constant.data());
    windows.push_back(std::move(one));
  }
  const std::int64_t planes = grid_[0].roi, channels = cuts[0].image.channels;
  const std::size_t plane_bytes = static_cast<std::size_t>(elements_ / planes) * windows[0].to_size;
  parallel.for_each(static_cast<std::int64_t>(windows.size()) * channels * planes, [&](std::int64_t part, int) {
    const std::int64_t plane = part % planes, channel = part / planes % channels, window = part / planes / channels;
    cut_plane(windows[static_cast<std::size_t>(window)], channel, plane,
              static_cast<std::byte*>(to) + static_cast<std::size_t>(part) * plane_bytes);
  });
}

}  // namespace tenfold::windows
