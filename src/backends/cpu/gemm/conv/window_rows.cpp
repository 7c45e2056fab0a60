// Pointers of windows: inside the image by a table of offsets, at its edges tap by tap.
#include "backends/cpu/gemm/conv/window_rows.h"

#include <algorithm>

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
  const std::int64_t begin = shape.begin[2], stride = shape.stride[2], last = extents.in[2] - reach_[2] + begin;
  first_inside_ = (begin + stride - 1) / stride;
  end_inside_ = last < 0 ? 0 : last / stride + 1;
}

void WindowRows::Cursor::write(const float** entry, std::int64_t step, std::int64_t count) noexcept {
  for (std::int64_t run; count > 0; entry += run, count -= run) {
    run = std::min(count, w_.extents_.out[2] - out_[2]);
    if (line_inside_ && out_[2] >= w_.first_inside_ && out_[2] + run <= w_.end_inside_) {
      for (std::int64_t tap = 0; tap < w_.taps_; ++tap) {
        const float *from = corner_ + w_.offset_[tap], **to = entry + tap * step;
        for (std::int64_t i = 0; i < run; ++i, from += w_.step_) to[i] = from;
      }
    } else {
      edges_ = true, write_edges(entry, step, run);
    }
    advance(run);
  }
}

// Positions of one line. Of each tap those from `first` to `last` lie inside the image.
void WindowRows::Cursor::write_edges(const float** entry, std::int64_t step, std::int64_t run) const noexcept {
  const Three kernel = w_.shape_.kernel, in = w_.extents_.in;  // copies: entries might alias what they are read from
  const float *const corner = corner_, *const zeros = w_.zeros_;
  const std::int64_t hop = w_.step_, at = at_[2];
  const std::int64_t stride = w_.shape_.stride[2], dilation = w_.shape_.dilation[2];
  const std::int64_t* offset = w_.offset_;
  for (std::int64_t line = 0; line < kernel[0] * kernel[1]; ++line) {
    const bool exists = exists_at(0, line / kernel[1]) && exists_at(1, line % kernel[1]);
    for (std::int64_t i = 0; i < kernel[2]; ++i, ++offset, entry += step) {
      std::int64_t first = 0, last = exists ? run : 0;
      if (exists) {
        const std::int64_t x = at + i * dilation;
        if (x < 0) first = stride == 1 ? std::min(-x, run) : std::min((-x + stride - 1) / stride, run);
        if (x + (run - 1) * stride >= in[2]) last = x >= in[2] ? 0 : stride == 1 ? in[2] - x : (in[2] - x - 1) / stride + 1;
        first = std::min(first, last);
      }
      const float* from = corner + *offset + first * hop;
      std::int64_t p = 0;
      for (; p < first; ++p) entry[p] = zeros;
      for (; p < last; ++p, from += hop) entry[p] = from;
      for (; p < run; ++p) entry[p] = zeros;
    }
  }
}

void WindowRows::mark_padding(const RowTiles& tiles, int max_rows, const float** table) const noexcept {
  for (std::int64_t t = 0; t < tiles.count; ++t) {
    const std::int64_t rows = tiles.begin(t + 1) - tiles.begin(t);
    for (std::int64_t tap = 0; tap < taps_; ++tap, table += max_rows)
      if (std::all_of(table, table + rows, [&](const float* row) { return row == zeros_; })) table[0] = nullptr;
  }
}

WindowSlabs window_slabs(const ConvShape& shape, const ConvExtents& extents, std::int64_t block_rows, std::int64_t near_bytes) noexcept {
  const std::int64_t plane = extents.in[1] * extents.in[2] * extents.x_stride[2] * 4, positions = extents.out[1] * extents.out[2];
  if (shape.kernel[0] == 1 || shape.kernel[0] * plane <= near_bytes) return {};
  const std::int64_t blocks = (positions + block_rows - 1) / block_rows;
  const std::int64_t slab = std::max<std::int64_t>(near_bytes * blocks / (shape.kernel[0] * plane), 1);
  if (slab >= blocks) return {};
  return {.planes = extents.batch * extents.out[0], .blocks = blocks, .slab = slab};
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
  const Three& kernel = w_.shape_.kernel;
  std::int64_t tap = 0;
  for (std::int64_t z = 0; z < kernel[0]; ++z) {
    for (std::int64_t y = 0; y < kernel[1]; ++y) {
      const bool line = exists_at(0, z) && exists_at(1, y);
      for (std::int64_t i = 0; i < kernel[2]; ++i, ++tap, entry += step)
        *entry = line && exists_at(2, i) ? corner_ + w_.offset_[tap] : w_.zeros_;
    }
  }
}

}  // namespace tenfold::backends::cpu
