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

// Rows of the window along the last axis but one, in `section`: the axes of the image before it, -1 for padding.
void Cutter::cut_rows(const Rows& w, std::int64_t section, std::byte* to) const {
  constexpr std::int64_t kAhead = 8;   // rows lie too far apart for processors to see the next ones coming
  const std::size_t axis = grid_.size() - 2;
  const Axis& line = grid_.back();
  const bool single = axis == 0;       // whose planes are rows, so `section` is the row
  const std::int64_t rows = single ? 1 : grid_[axis].roi, count = std::min(line.roi, line.image);
  const std::size_t row_bytes = static_cast<std::size_t>(line.roi) * w.to_size,
                    image_row = static_cast<std::size_t>(line.image) * w.from_size,
                    read = static_cast<std::size_t>(count) * w.from_size;
  const std::int64_t x = line.padded > line.image ? 0 : w.starts.back();
  const std::int64_t* const map = single ? nullptr : maps_[axis].data() + w.starts[axis];
  for (std::int64_t row = 0; row < rows; ++row, to += row_bytes) {
    const std::int64_t at = single || section < 0 ? section : map[row] < 0 ? -1 : section * grid_[axis].image + map[row];
    if (at < 0) {
      for (std::int64_t i = 0; i < line.roi; ++i)
        std::memcpy(to + static_cast<std::size_t>(i) * w.to_size, w.constant.data(), w.to_size);
      continue;
    }
    const std::byte* const from = w.image.data + static_cast<std::size_t>(at * line.image + x) * w.from_size;
    for (std::size_t byte = 0; byte < read; byte += 64) __builtin_prefetch(from + kAhead * image_row + byte);
    w.convert(from, to + static_cast<std::size_t>(line.before) * w.to_size, count);
    if (line.padded > line.image) pad_row(to, w.to_size, w.constant.data());
  }
}

// All rows of a plane of the window; two axes at most lie between planes and rows.
void Cutter::cut_plane(const Rows& w, std::int64_t channel, std::int64_t plane, std::byte* to) const {
  const std::int64_t z = maps_[0][static_cast<std::size_t>(w.starts[0] + plane)];
  const std::int64_t section = z < 0 ? -1 : channel * w.image.planes + z % w.image.planes;
  if (grid_.size() < 4) return cut_rows(w, section, to);
  const std::size_t bytes = static_cast<std::size_t>(grid_[2].roi * grid_[3].roi) * w.to_size;
  for (std::int64_t i = 0; i < grid_[1].roi; ++i, to += bytes) {
    const std::int64_t at = maps_[1][static_cast<std::size_t>(w.starts[1] + i)];
    cut_rows(w, section < 0 || at < 0 ? -1 : section * grid_[1].image + at, to);
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
