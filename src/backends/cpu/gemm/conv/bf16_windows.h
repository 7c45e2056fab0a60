// The windows of some lines of an image as rows of a product of bf16, or of f32 in terms, in a copy of those lines whose border is there.
//
// Positions of the copy lie such that the windows of all positions, line after line, begin at one distance: AMX loads 16 of them at
// once, for each tap at another offset. The columns that widen an image (its border) give rows without a meaning between lines.
// Steps above 1 take the image apart: pixels of one remainder lie together. Few channels (first layers) count a whole line of a window
// as one tap: the copy holds each line of each window, padded with zeros, for what lies behind it may be no number.
#pragma once

#include "backends/cpu/gemm/bf16/gemm_bf16_rows.h"
#include "backends/cpu/gemm/conv/conv_shape.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

class Bf16Windows {
 public:
  static constexpr std::int64_t kMaxTaps = 512;
  Bf16Windows() = default;
  Bf16Windows(const ConvShape& shape, DType type, int terms);

  std::int64_t taps() const { return merged_ ? shape_.kernel[0] * shape_.kernel[1] : shape_.taps(); }
  std::int64_t tap_depth() const { return merged_ ? shape_.kernel[2] * shape_.channels : shape_.channels; }
  // Where the weight of value k of a tap of the product lies among those of one filter: [channel][tap of the kernel].
  std::int64_t element(std::int64_t tap, std::int64_t k) const {
    if (!merged_) return k * shape_.taps() + tap;
    return k % shape_.channels * shape_.taps() + tap * shape_.kernel[2] + k / shape_.channels;
  }
  // Whether planes count on from image to image: a window lies in one plane, and each plane makes one.
  bool flat() const { return shape_.kernel[0] == 1 && shape_.stride[0] == 1 && shape_.begin[0] == 0; }
  // Bytes of a copy of `lines` output lines of `width` positions, in `planes` neighboring planes each, of which fits() is true.
  template <class Number>
  Number bytes(std::int64_t planes, std::int64_t lines, Number width) const {
    return (width + Number(extra_[2])) * Number(deep(planes) * phases_[1] * phases_[2] * (lines + extra_[1]) * pixel_bytes()) +
           Number(32 * pixel_bytes());   // tiles begin at any position
  }
  // Bytes that copying needs besides: a line of the image with its border.
  template <class Number>
  Number border_bytes(Number width) const {
    if (!merged_) return Number(0);
    return width * Number(shape_.stride[2] * border_pixel()) +
           Number((shape_.kernel[2] + shape_.stride[2]) * border_pixel() + 64);
  }
  // Whether that is a sensible amount for each position.
  bool fits(std::int64_t planes, std::int64_t lines) const;
  // Whether planes of results may come one after the other while the copy's planes go round: each is copied once for all that read it.
  bool rolls() const { return shape_.kernel[0] > 1 && shape_.stride[0] == 1 && shape_.dilation[0] == 1; }

  // Output lines [y, y + count) of `planes` planes from `plane` on, which counts the planes of all images. If not flat() they are
  // of one image.
  struct Lines { std::int64_t plane, planes, y, count; };
  // Copies part `part` of `parts` of what they need to `memory`.
  struct Part { std::int64_t part = 0, parts = 1; };
  void copy(const ConvExtents& extents, const void* image, const Lines& lines, const Part& part, char* memory,
            char* border) const noexcept;
  // The same for plane `step` of them, whose results come one after the other, if windows roll: step 0 copies all planes of a window.
  void roll(const ConvExtents& extents, const void* image, const Lines& lines, std::int64_t step, char* memory,
            char* border) const noexcept;
  // The lines of the image that copying `after` reads and copying `lines`, of the same planes, does not.
  GemmBf16Windows::Next next(const ConvExtents& extents, const void* image, const Lines& lines, const Lines& after) const noexcept;
  // What rolling to `step` + 1 reads.
  GemmBf16Windows::Next next_rolled(const ConvExtents& extents, const void* image, const Lines& lines, std::int64_t step) const noexcept;
  // What was copied, plane by plane; `taps` (taps() of them) become the rows'.
  GemmBf16Rows rows(const ConvExtents& extents, const Lines& lines, const char* memory, std::int64_t* taps) const noexcept;
  GemmBf16Rows rolled(const ConvExtents& extents, const Lines& lines, std::int64_t step, const char* memory,
                      std::int64_t* taps) const noexcept;

 private:
  std::int64_t padded() const { return round_up(tap_depth(), 32); }
  std::int64_t pixel_bytes() const { return padded() * 2 * terms_; }   // in the copy
  std::int64_t low() const { return padded() * 2; }   // from a pixel's terms to the next lower ones
  // Of the line from which windows are copied: f32 that is to be split waits until then.
  std::int64_t border_pixel() const { return shape_.channels * (terms_ > 1 ? 4 : 2); }
  std::int64_t deep(std::int64_t planes) const {   // planes of the image that make `planes`
    return (planes - 1) * shape_.stride[0] + (shape_.kernel[0] - 1) * shape_.dilation[0] + 1;
  }
  // What a line of the copy holds: `count` pixels `step` apart in the image, from `begin` pixels before its line on, of `padded` values.
  struct Pixels { std::int64_t begin, step, count, padded, bytes; };
  void line(const ConvExtents& extents, const char* from, const Pixels& pixels, char* to) const noexcept;
  void windows_of_line(const ConvExtents& extents, const char* from, char* border, char* to) const noexcept;
  std::int64_t height(const Lines& lines) const { return lines.count + extra_[1]; }
  std::int64_t line_bytes(const ConvExtents& extents) const { return (extents.out[2] + extra_[2]) * pixel_bytes(); }
  std::int64_t plane_lines(const Lines& lines) const { return phases_[1] * phases_[2] * height(lines); }
  // Line i of plane p of those that `lines` need.
  void copy_line(const ConvExtents& extents, const void* image, const Lines& lines, std::int64_t p, std::int64_t i, char* to,
                 char* border) const noexcept;
  GemmBf16Rows rows_of(const ConvExtents& extents, const Lines& lines, std::int64_t turn, const char* memory,
                       std::int64_t* taps) const noexcept;

  ConvShape shape_;
  DType type_ = DType::bf16;
  int terms_ = 1;
  bool merged_ = false;
  Three phases_{1, 1, 1}, extra_{0, 0, 0};   // remainders in use; positions or lines that windows reach beyond the last one
};

}  // namespace tenfold::backends::cpu
