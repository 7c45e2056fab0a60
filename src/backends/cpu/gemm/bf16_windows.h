// The windows of some lines of an image as rows of a bf16 product, in a copy of those lines whose border is there.
//
// Positions of the copy lie such that the windows of all positions, line after line, begin at one distance: AMX loads 16 of them at
// once, for each tap at another offset. The columns that widen an image (its border) give rows without a meaning between lines.
// Steps above 1 take the image apart: pixels of one remainder lie together. Few channels (first layers) count whole lines of a window
// as one tap, side by side with their neighbours in x.
#pragma once

#include "backends/cpu/gemm/conv_shape.h"
#include "backends/cpu/gemm/gemm_bf16.h"

namespace tenfold::backends::cpu {

class Bf16Windows {
 public:
  static constexpr std::int64_t kMostTaps = 512;
  Bf16Windows() = default;
  Bf16Windows(const ConvShape& shape, DType type);

  bool merges_x() const { return merged_; }
  std::int64_t taps() const { return merged_ ? shape_.kernel[0] * shape_.kernel[1] : shape_.taps(); }
  std::int64_t tap_depth() const { return merged_ ? shape_.kernel[2] * shape_.channels : shape_.channels; }
  // Where the weight of value k of a tap of the product lies among those of one filter: [channel][tap of the kernel].
  std::int64_t element(std::int64_t tap, std::int64_t k) const {
    if (!merged_) return k * shape_.taps() + tap;
    return k % shape_.channels * shape_.taps() + tap * shape_.kernel[2] + k / shape_.channels;
  }
  // Whether planes count on from image to image: a window lies in one plane, and each plane makes one.
  bool flat() const { return shape_.kernel[0] == 1 && shape_.stride[0] == 1 && shape_.begin[0] == 0; }
  // Bytes of a copy of `lines` output lines of `width` positions, in `planes` neighbouring planes each.
  template <class Number>
  Number bytes(std::int64_t planes, std::int64_t lines, Number width) const {
    return (width + Number(extra_[2])) * Number(deep(planes) * phases_[1] * phases_[2] * (lines + extra_[1]) * pitch_bytes()) +
           Number(slack());
  }

  // Output lines [y, y + count) of `planes` planes from `plane` on, which counts the planes of all images. If not flat() they are
  // of one image.
  struct Lines { std::int64_t plane, planes, y, count; };
  // Copies what they need to `memory`; `taps` (taps() of them) are the rows', a segment for each plane.
  GemmBf16Rows rows(const ConvExtents& extents, const void* image, const Lines& lines, char* memory, std::int64_t* taps) const noexcept;

 private:
  std::int64_t pixel_bytes() const { return (merged_ ? shape_.channels : round_up(shape_.channels, 32)) * 2; }
  std::int64_t pitch_bytes() const { return merged_ ? shape_.stride[2] * pixel_bytes() : pixel_bytes(); }   // of a position
  std::int64_t slack() const { return 64 + 32 * pitch_bytes(); }   // tiles begin at any position
  std::int64_t deep(std::int64_t planes) const {   // planes of the image that make `planes`
    return (planes - 1) * shape_.stride[0] + (shape_.kernel[0] - 1) * shape_.dilation[0] + 1;
  }
  void copy(const ConvExtents& extents, const void* image, const Lines& lines, std::int64_t pitch, char* to) const noexcept;
  void line(const ConvExtents& extents, const char* from, std::int64_t phase, std::int64_t count, char* to) const noexcept;

  ConvShape shape_;
  DType type_ = DType::bf16;
  bool merged_ = false;
  Three phases_{1, 1, 1}, extra_{0, 0, 0};   // remainders in use; positions or lines that windows reach beyond the last one
};

}  // namespace tenfold::backends::cpu
