// Windows along a line, strips of windows, or any windows one by one.
#include "backends/cpu/gemm/conv/depthwise_f32_block.h"

#include <algorithm>

#include "base/checked.h"

namespace tenfold::backends::cpu {

const DepthwiseF32Line* depthwise_f32_line(const DepthwiseF32Kernels& kernels, const ConvShape& s) {
  const std::int64_t wide = s.kernel[2], stride = s.stride[2];
  if ((wide != 3 && wide != 5) || stride > 2 || s.dilation[2] != 1 || s.begin[2] >= wide) return nullptr;
  return kernels.line[wide == 5][stride - 1];
}

DepthwiseF32Block::DepthwiseF32Block(const DepthwiseF32& kernel, const RunArgs& args, const ConvExtents& extents, const WindowRows& windows,
                                     const F32Epilogue::Binding& bound, std::int64_t first, std::int64_t last) noexcept
    : kernel_(kernel), args_(args), extents_(extents), windows_(windows), bound_(bound), first_(first), last_(last) {
  tile_.offset = first;
  tile_.taps = kernel.weights.taps;
  panel_ = args.in[1].as<const float>() + kernel.weights.at(0, first / kernel.weights.panel) + first % kernel.weights.panel;
  tile_.panel = panel_;
  tile_.c_stride = args.out[0].strides[args.out[0].rank - 1];
  tile_.cols = last - first;
  // The last window of a line has to begin inside it.
  by_line_ = kernel.line != nullptr && (extents.out[2] - 1) * kernel.shape.stride[2] - kernel.shape.begin[2] < extents.in[2];
  by_strip_ = !by_line_ && extents.out[2] > 1 && kernel.weights.taps > 1;   // one pointer a position is no more than a strip's numbers
}

void DepthwiseF32Block::run(std::int64_t first, std::int64_t last, void* scratch) noexcept {
  const std::int64_t line = extents_.out[2];
  for (std::int64_t row = first, count; row < last; row += count) {
    count = by_line_ || by_strip_ ? std::min(last - row, line - row % line) : last - row;
    if (by_line_) in_line(row, count);
    else if (by_strip_) in_strips(row, count);
    else by_windows(row, count);
    if (!kernel_.epilogue.in_registers())
      kernel_.epilogue.apply(bound_, row, count, first_, last_ - first_, result(row), tile_.c_stride, scratch);
  }
}

void DepthwiseF32Block::begin_tile(std::int64_t row, GemmF32EpilogueArgs& epilogue) noexcept {
  epilogue = bound_.at(row, first_);
  tile_.c = result(row);
  tile_.epilogue = bound_.any ? &epilogue : nullptr;
}

// Any windows: a pointer for each tap.
void DepthwiseF32Block::by_windows(std::int64_t row, std::int64_t count) noexcept {
  const std::int64_t taps = tile_.taps, max = table_rows(taps, kernel_.kernels->max_rows);
  for (std::int64_t some; count > 0; row += some, count -= some) {
    some = std::min(count, max);
    const RowTiles tiles(some, kernel_.kernels->max_rows);
    const float* table[kRowTable];
    fill_windows(windows_, row, tiles, kernel_.kernels->max_rows, table);
    windows_tiles(row, tiles, table, 0, tiles.higher);
    windows_tiles(row, tiles, table, tiles.higher, tiles.count);
  }
}

// Tiles [first, last), which are equally high.
void DepthwiseF32Block::windows_tiles(std::int64_t row, const RowTiles& tiles, const float* const* table, std::int64_t first,
                                      std::int64_t last) noexcept {
  if (first == last) return;
  GemmF32EpilogueArgs epilogue;
  begin_tile(row + tiles.begin(first), epilogue);
  tile_.rows = table + first * tile_.taps * kernel_.kernels->max_rows;
  kernel_.kernels->tile[tiles.begin(first + 1) - tiles.begin(first) - 1](tile_, last - first);
}

// Windows of which all taps lie within the line together, those at its ends one by one.
void DepthwiseF32Block::in_strips(std::int64_t row, std::int64_t count) noexcept {
  const ConvShape& s = kernel_.shape;
  const float* lines[kMaxTaps];
  std::int64_t numbers[kMaxTaps];
  DepthwiseF32Strip strip{.lines = lines,
                          .first = numbers,
                          .count = existing_lines(row, lines, numbers),
                          .tap_step = s.dilation[2] * extents_.x_stride[2],
                          .step = s.stride[2] * extents_.x_stride[2]};
  const std::int64_t wide = s.kernel[2], length = extents_.in[2], begin = row % extents_.out[2] * s.stride[2] - s.begin[2];
  const std::int64_t room = length - 1 - (wide - 1) * s.dilation[2] - begin;   // to where the last of them begins
  const std::int64_t inside = begin < 0 ? std::min(count, ceil_div(-begin, s.stride[2])) : 0;
  const std::int64_t outside = room < 0 ? inside : std::clamp(room / s.stride[2] + 1, inside, count);
  const auto alone = [&](std::int64_t i) noexcept {
    const std::int64_t at = begin + i * s.stride[2];
    const std::int64_t first = at < 0 ? std::min(wide, ceil_div(-at, s.dilation[2])) : 0;
    const std::int64_t last = at < length ? std::min(wide, (length - 1 - at) / s.dilation[2] + 1) : 0;
    one_strip(strip, row, i, 1, first, std::max<std::int64_t>(last - first, 0));
  };
  for (std::int64_t i = 0; i < inside; ++i) alone(i);
  const RowTiles tiles(outside - inside, kernel_.kernels->max_rows);
  for (std::int64_t i = 0; i < tiles.count; ++i)
    one_strip(strip, row, inside + tiles.begin(i), tiles.begin(i + 1) - tiles.begin(i), 0, wide);
  for (std::int64_t i = outside; i < count; ++i) alone(i);
}

// Results [row + i, row + i + height), from `taps` taps of each line, of which `tap` is the first.
void DepthwiseF32Block::one_strip(DepthwiseF32Strip& strip, std::int64_t row, std::int64_t i, std::int64_t height, std::int64_t tap,
                                  std::int64_t taps) noexcept {
  GemmF32EpilogueArgs epilogue;
  begin_tile(row + i, epilogue);
  tile_.offset = first_ + i * strip.step + tap * strip.tap_step;
  tile_.panel = panel_ + tap * kernel_.weights.panel;
  strip.taps = taps;
  kernel_.kernels->strip[height - 1](tile_, strip);
}

// The lines of the kernel that lie within the image, and the numbers of their first taps.
std::int64_t DepthwiseF32Block::existing_lines(std::int64_t row, const float** lines, std::int64_t* numbers) const noexcept {
  const std::int64_t all = find_lines(row, lines, numbers);
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < all; ++i) {
    if (numbers[i] == 0) continue;   // no step: a line of zeros
    lines[count] = lines[i];
    numbers[count++] = i * kernel_.shape.kernel[2];
  }
  return count;
}

// A pointer for each line of the kernel.
void DepthwiseF32Block::in_line(std::int64_t row, std::int64_t count) noexcept {
  const float* lines[kMaxTaps];
  std::int64_t steps[kMaxTaps];
  const std::int64_t all = find_lines(row, lines, steps), stride = kernel_.shape.stride[2];
  std::int64_t x = row % extents_.out[2] * stride - kernel_.shape.begin[2];  // of the input
  tile_.rows = lines;
  const RowTiles tiles(count, kDepthwiseLine);
  // Where the result is far, so is the image: the line that the next results are the first to read is asked for meanwhile.
  const bool more = is_far(extents_.rows(), last_ - first_) && steps[all - 1] != 0 && lines_follow(row);
  for (std::int64_t i = 0; i < tiles.count; ++i) {
    const std::int64_t height = tiles.begin(i + 1) - tiles.begin(i);
    GemmF32EpilogueArgs epilogue;
    begin_tile(row + tiles.begin(i), epilogue);
    kernel_.line[height - 1](tile_, {.steps = steps, .first = -x, .last = extents_.in[2] - x, .zeros = kernel_.zeros.data()});
    if (more) {
      const float* next = lines[all - 1] + extents_.x_stride[1];
      for (std::int64_t j = 0; j < height * stride * steps[all - 1]; j += 16) __builtin_prefetch(next + j, 0, 2);
    }
    x += height * stride;
    for (std::int64_t l = 0; l < all; ++l) lines[l] += height * stride * steps[l];
  }
}

// Whether the image has a line behind those of the windows at `row`.
bool DepthwiseF32Block::lines_follow(std::int64_t row) const noexcept {
  const ConvShape& s = kernel_.shape;
  const std::int64_t y = row / extents_.out[2] % extents_.out[1];
  return y * s.stride[1] - s.begin[1] + (s.kernel[1] - 1) * s.dilation[1] + 1 < extents_.in[1];
}

std::int64_t DepthwiseF32Block::find_lines(std::int64_t row, const float** lines, std::int64_t* steps) const noexcept {
  const ConvShape& s = kernel_.shape;
  const Three& out = extents_.out;
  const std::int64_t x = row % out[2], y = row / out[2] % out[1], z = row / out[2] / out[1] % out[0];
  const std::int64_t batch = row / out[2] / out[1] / out[0], position = x * s.stride[2] - s.begin[2];
  const float* const image = args_.in[0].as<const float>() + batch * extents_.x_batch + position * extents_.x_stride[2];
  std::int64_t count = 0;
  for (std::int64_t kz = 0; kz < s.kernel[0]; ++kz) {
    const std::int64_t iz = z * s.stride[0] - s.begin[0] + kz * s.dilation[0];
    for (std::int64_t ky = 0; ky < s.kernel[1]; ++ky, ++count) {
      const std::int64_t iy = y * s.stride[1] - s.begin[1] + ky * s.dilation[1];
      const bool exists = iz >= 0 && iz < extents_.in[0] && iy >= 0 && iy < extents_.in[1];
      lines[count] = exists ? image + iz * extents_.x_stride[0] + iy * extents_.x_stride[1] : kernel_.zeros.data();
      steps[count] = exists ? extents_.x_stride[2] : 0;
    }
  }
  return count;
}

}  // namespace tenfold::backends::cpu
