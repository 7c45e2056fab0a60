// Pointers of windows: inside the image by a table of offsets, at its edges tap by tap.
#include "backends/cpu/gemm/window_rows.h"

namespace tenfold::backends::cpu {

WindowRows::WindowRows(const ConvShape& shape, const ConvExtents& extents, const float* x, const float* zeros) noexcept
    : shape_(shape), extents_(extents), x_(x), zeros_(zeros), taps_(shape.taps()) {
  const Three& s = extents.x_stride;
  std::int64_t tap = 0;
  for (std::int64_t z = 0; z < shape.kernel[0]; ++z)
    for (std::int64_t y = 0; y < shape.kernel[1]; ++y)
      for (std::int64_t i = 0; i < shape.kernel[2]; ++i)
        offset_[tap++] = z * shape.dilation[0] * s[0] + y * shape.dilation[1] * s[1] + i * shape.dilation[2] * s[2];
  for (std::size_t d = 0; d < 3; ++d) reach_[d] = (shape.kernel[d] - 1) * shape.dilation[d] + 1;
  step_ = shape.stride[2] * s[2];
  last_inside_ = extents.in[2] - reach_[2];
}

WindowRows::Cursor::Cursor(const WindowRows& rows, std::int64_t row) noexcept : w_(rows) {
  for (std::size_t d = 3; d-- > 0;) {
    out_[d] = row % rows.extents_.out[d];
    row /= rows.extents_.out[d];
  }
  batch_ = row;
  find();
}

void WindowRows::Cursor::find() noexcept {
  line_inside_ = true;
  std::int64_t corner = batch_ * w_.extents_.x_batch;
  for (std::size_t d = 0; d < 3; ++d) {
    at_[d] = out_[d] * w_.shape_.stride[d] - w_.shape_.begin[d];
    if (d < 2) line_inside_ = line_inside_ && at_[d] >= 0 && at_[d] + w_.reach_[d] <= w_.extents_.in[d];
    corner += at_[d] * w_.extents_.x_stride[d];
  }
  corner_ = w_.x_ + corner;
}

void WindowRows::Cursor::next_line() noexcept {
  out_[2] = 0;
  if (++out_[1] == w_.extents_.out[1]) {
    out_[1] = 0;
    if (++out_[0] == w_.extents_.out[0]) out_[0] = 0, ++batch_;
  }
  find();
}

void WindowRows::Cursor::write_edge(const float** entry, std::int64_t step) const noexcept {
  const auto inside = [&](std::size_t d, std::int64_t k) {
    const std::int64_t i = at_[d] + k * w_.shape_.dilation[d];
    return i >= 0 && i < w_.extents_.in[d];
  };
  std::int64_t tap = 0;
  for (std::int64_t z = 0; z < w_.shape_.kernel[0]; ++z) {
    for (std::int64_t y = 0; y < w_.shape_.kernel[1]; ++y) {
      const bool row = inside(0, z) && inside(1, y);
      for (std::int64_t i = 0; i < w_.shape_.kernel[2]; ++i, ++tap, entry += step)
        *entry = row && inside(2, i) ? corner_ + w_.offset_[tap] : w_.zeros_;
    }
  }
}

}  // namespace tenfold::backends::cpu
