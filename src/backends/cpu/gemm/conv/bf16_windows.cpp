// Copies of image lines for bf16 convolutions.
#include "backends/cpu/gemm/conv/bf16_windows.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm/bf16/gemm_bf16_kernels.h"

namespace tenfold::backends::cpu {

Bf16Windows::Bf16Windows(const ConvShape& shape, DType type, int terms) : shape_(shape), type_(type), terms_(terms) {
  constexpr std::int64_t kShortTap = 48;   // values: a step or one and a half for what would be a step for each pixel
  merged_ = shape.kernel[2] > 1 && shape.dilation[2] == 1 && shape.kernel[2] * shape.channels <= kShortTap;
  for (std::size_t d = 1; d < 3; ++d) {
    const std::int64_t reach = (shape.kernel[d] - 1) * shape.dilation[d];
    phases_[d] = std::min(shape.stride[d], reach + 1);
    extra_[d] = reach / shape.stride[d];
  }
  if (merged_) phases_[2] = 1, extra_[2] = 0;
}

bool Bf16Windows::fits(std::int64_t planes, std::int64_t lines) const {
  constexpr double kMax = 1 << 28;
  const double lines_deep = (static_cast<double>(planes) * static_cast<double>(shape_.stride[0]) +
                             static_cast<double>(shape_.kernel[0]) * static_cast<double>(shape_.dilation[0])) *
                            static_cast<double>(lines + extra_[1]);
  return lines_deep * static_cast<double>(phases_[1]) * static_cast<double>(phases_[2]) * static_cast<double>(pixel_bytes()) <= kMax &&
         static_cast<double>(shape_.stride[2]) * static_cast<double>(shape_.channels) <= kMax && static_cast<double>(extra_[2]) <= kMax;
}

// `from` is the image's line, null: outside.
void Bf16Windows::line(const ConvExtents& e, const char* from, const Pixels& p, char* to) const noexcept {
  // Pixel i is that at i * step - begin.
  const std::int64_t first = std::clamp<std::int64_t>(ceil_div(std::max<std::int64_t>(p.begin, 0), p.step), 0, p.count);
  const std::int64_t last = from ? std::clamp<std::int64_t>(ceil_div(std::max<std::int64_t>(e.in[2] + p.begin, 0), p.step), first, p.count)
                                 : first;
  std::memset(to, 0, static_cast<std::size_t>(first * p.bytes));
  std::memset(to + last * p.bytes, 0, static_cast<std::size_t>((p.count - last) * p.bytes));
  if (last == first) return;
  const std::int64_t pixel = e.x_stride[2] * (type_ == DType::f32 ? 4 : 2);
  Bf16Copy c{.from = from + (first * p.step - p.begin) * pixel, .from_bytes = p.step * pixel, .wide = type_ == DType::f32,
             .rows = last - first, .count = shape_.channels, .padded = p.padded, .to = to + first * p.bytes, .to_bytes = p.bytes};
  c.terms = terms_, c.low = low();
  if (terms_ > 1 && merged_) c.wide = false, c.terms = 1, c.count *= 2;   // f32 as they are, half by half
  // Pixels without gaps are one row.
  if (p.step == 1 && c.terms == 1 && c.padded == c.count && e.x_stride[2] == shape_.channels)
    c.count = c.padded = c.rows * c.count, c.rows = 1;
  gemm_bf16_kernels().copy(c);
}

// The windows' pieces of one line of the image, each padded; `border`: memory for the line with its border.
void Bf16Windows::windows_of_line(const ConvExtents& e, const char* from, char* border, char* to) const noexcept {
  const std::int64_t step = shape_.stride[2] * border_pixel(), pixels = (e.out[2] - 1) * shape_.stride[2] + shape_.kernel[2];
  line(e, from, {shape_.begin[2], 1, pixels, border_pixel() / 2, border_pixel()}, border);
  gemm_bf16_kernels().copy({.from = border,
                            .from_bytes = step,
                            .wide = terms_ > 1,
                            .rows = e.out[2],
                            .count = tap_depth(),
                            .padded = padded(),
                            .to = to,
                            .to_bytes = pixel_bytes(),
                            .terms = terms_,
                            .low = low()});
}

GemmBf16Rows Bf16Windows::rows(const ConvExtents& e, const Lines& lines, const char* memory, std::int64_t* taps) const noexcept {
  return rows_of(e, lines, 0, memory, taps);
}

GemmBf16Rows Bf16Windows::rolled(const ConvExtents& e, const Lines& lines, std::int64_t step, const char* memory,
                                 std::int64_t* taps) const noexcept {
  return rows_of(e, {lines.plane + step, 1, lines.y, lines.count}, step, memory, taps);
}

// `turn`: which plane of the copy a window's first plane is, the others going round.
GemmBf16Rows Bf16Windows::rows_of(const ConvExtents& e, const Lines& lines, std::int64_t turn, const char* memory,
                                  std::int64_t* taps) const noexcept {
  const Three &kernel = shape_.kernel, &stride = shape_.stride, &dilation = shape_.dilation;
  const std::int64_t pitch = e.out[2] + extra_[2], line = line_bytes(e), plane = plane_lines(lines) * line;
  const std::int64_t* const first_tap = taps;
  for (std::int64_t a = 0; a < kernel[0]; ++a)
    for (std::int64_t b = 0; b < kernel[1]; ++b) {
      const std::int64_t phase = b * dilation[1] % stride[1] * phases_[2], down = b * dilation[1] / stride[1];
      const std::int64_t deep = turn > 0 ? (a + turn) % kernel[0] : a * dilation[0];
      for (std::int64_t c = 0; c < (merged_ ? 1 : kernel[2]); ++c)
        *taps++ = deep * plane + ((phase + c * dilation[2] % stride[2]) * height(lines) + down) * line +
                  c * dilation[2] / stride[2] * pixel_bytes();
    }
  GemmBf16Rows rows{.a = {.first = memory, .row_bytes = pixel_bytes(), .count = (lines.count - 1) * pitch + e.out[2]},
                    .c = {.first = (lines.plane * e.out[1] + lines.y) * e.out[2], .line = e.out[2], .pitch = pitch}};
  rows.a.term_bytes = low(), rows.a.taps = first_tap;
  rows.c.line_step = e.out[2], rows.c.plane_step = e.out[1] * e.out[2];
  GemmBf16Windows windows{.planes = lines.planes, .plane_bytes = stride[0] * plane};
  if (e.out[2] % GemmBf16A::kTile == 0) {   // whole tiles: none holds what lies between lines
    rows.a.count = lines.count * e.out[2], rows.c.pitch = e.out[2];
    windows.line_bytes = line, windows.line_rows = e.out[2];
  }
  rows.a.mode = windows;
  return rows;
}

GemmBf16Windows::Next Bf16Windows::next(const ConvExtents& e, const void* image, const Lines& lines, const Lines& after) const noexcept {
  if (after.plane != lines.plane || after.planes != lines.planes || after.y < lines.y + lines.count) return {};
  const std::int64_t reach = (shape_.kernel[1] - 1) * shape_.dilation[1] - shape_.begin[1], element = type_ == DType::f32 ? 4 : 2;
  const auto end = [&](const Lines& l) { return std::clamp<std::int64_t>((l.y + l.count - 1) * shape_.stride[1] + reach + 1, 0, e.in[1]); };
  const std::int64_t planes = flat() ? e.out[0] : e.in[0];
  const std::int64_t first = flat() ? lines.plane % e.out[0] : lines.plane % e.out[0] * shape_.stride[0] - shape_.begin[0];
  const std::int64_t z = std::clamp<std::int64_t>(first, 0, planes);
  const std::int64_t count = std::clamp<std::int64_t>(first + deep(lines.planes), z, planes) - z;
  const std::int64_t at = lines.plane / e.out[0] * e.x_batch + z * e.x_stride[0] + end(lines) * e.x_stride[1];
  const std::int64_t bytes = (end(after) - end(lines)) * e.x_stride[1] * element;
  if (count <= 0 || bytes <= 0) return {};
  return {static_cast<const char*>(image) + at * element, count, bytes, e.x_stride[0] * element};
}

GemmBf16Windows::Next Bf16Windows::next_rolled(const ConvExtents& e, const void* image, const Lines& lines,
                                               std::int64_t step) const noexcept {
  const std::int64_t reach = (shape_.kernel[1] - 1) * shape_.dilation[1], element = type_ == DType::f32 ? 4 : 2;
  const std::int64_t z = lines.plane % e.out[0] + step + shape_.kernel[0] - shape_.begin[0];
  const std::int64_t first = std::clamp<std::int64_t>(lines.y * shape_.stride[1] - shape_.begin[1], 0, e.in[1]);
  const std::int64_t last =
      std::clamp<std::int64_t>((lines.y + lines.count - 1) * shape_.stride[1] - shape_.begin[1] + reach + 1, first, e.in[1]);
  if (step + 1 >= lines.planes || z < 0 || z >= e.in[0] || last == first) return {};
  const std::int64_t at = lines.plane / e.out[0] * e.x_batch + z * e.x_stride[0] + first * e.x_stride[1];
  return {static_cast<const char*>(image) + at * element, 1, (last - first) * e.x_stride[1] * element, 0};
}

// Lines in the order [plane][remainder of y][of x][line].
void Bf16Windows::copy(const ConvExtents& e, const void* image, const Lines& lines, const Part& part, char* memory,
                       char* border) const noexcept {
  const std::int64_t each = plane_lines(lines), all = deep(lines.planes) * each;
  for (std::int64_t i = part.part * all / part.parts; i < (part.part + 1) * all / part.parts; ++i)
    copy_line(e, image, lines, i / each, i % each, memory + i * line_bytes(e), border);
}

void Bf16Windows::roll(const ConvExtents& e, const void* image, const Lines& lines, std::int64_t step, char* memory,
                       char* border) const noexcept {
  const std::int64_t each = plane_lines(lines), planes = shape_.kernel[0];
  for (std::int64_t p = step == 0 ? 0 : step + planes - 1; p < step + planes; ++p)
    for (std::int64_t i = 0; i < each; ++i)
      copy_line(e, image, lines, p, i, memory + (p % planes * each + i) * line_bytes(e), border);
}

void Bf16Windows::copy_line(const ConvExtents& e, const void* image, const Lines& lines, std::int64_t p, std::int64_t i, char* to,
                            char* border) const noexcept {
  const std::int64_t l = i % height(lines), px = i / height(lines) % phases_[2], py = i / height(lines) / phases_[2];
  const std::int64_t n = flat() ? (lines.plane + p) / e.out[0] : lines.plane / e.out[0];
  const std::int64_t z = flat() ? (lines.plane + p) % e.out[0] : lines.plane % e.out[0] * shape_.stride[0] - shape_.begin[0] + p;
  const std::int64_t y = (lines.y + l) * shape_.stride[1] + py - shape_.begin[1];
  const bool inside = z >= 0 && z < e.in[0] && y >= 0 && y < e.in[1];
  const std::int64_t at = n * e.x_batch + z * e.x_stride[0] + y * e.x_stride[1], element = type_ == DType::f32 ? 4 : 2;
  const char* const from = inside ? static_cast<const char*>(image) + at * element : nullptr;
  if (merged_)
    windows_of_line(e, from, border, to);
  else
    line(e, from, {shape_.begin[2] - px, shape_.stride[2], e.out[2] + extra_[2], padded(), pixel_bytes()}, to);
}

}  // namespace tenfold::backends::cpu
