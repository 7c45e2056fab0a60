// What the tactics for ExpandDepthwise share: a 1x1 convolution and the depthwise one behind it, channels-last, line by line.
#pragma once

#include <algorithm>

#include "backends/cpu/gemm/conv/conv_shape.h"

namespace tenfold::backends::cpu {

// The window of the second convolution; `channels` of the image, `width` of the first convolution's result.
struct ExpandShape {
  std::int64_t channels, width, high, wide, stride_y, stride_x, top, left, right;
  explicit ExpandShape(const Problem& problem);

  // Lines [first, last) of the result, filter(line) each, behind expand(i) of what it is the first to need of the first result's lines.
  template <class Expand, class Filter>
  void walk(std::int64_t first, std::int64_t last, std::int64_t in_high, Expand&& expand, Filter&& filter) const noexcept {
    std::int64_t made = 0;
    for (std::int64_t out = first; out < last; ++out) {
      const std::int64_t begin = out * stride_y - top;
      for (made = std::max({made, begin, std::int64_t{0}}); made < std::min(begin + high, in_high); ++made) expand(made);
      filter(out);
    }
  }
};

// The result in parts of nearly as many lines each, times pieces of its channels.
class LineParts {
 public:
  LineParts(const Bound& y, std::int64_t lines_of_part, std::int64_t pieces) noexcept
      : images_(y.dims[0]), lines_(y.dims[2]), blocks_((lines_ + lines_of_part - 1) / lines_of_part), pieces_(pieces) {}
  struct Part {
    std::int64_t image, first, last, piece;   // lines [first, last)
  };
  std::int64_t count() const noexcept { return images_ * blocks_ * pieces_; }
  Part part(std::int64_t i) const noexcept {
    const std::int64_t block = i / pieces_ % blocks_;
    return {i / pieces_ / blocks_, block * lines_ / blocks_, (block + 1) * lines_ / blocks_, i % pieces_};
  }

 private:
  std::int64_t images_, lines_, blocks_, pieces_;
};

// Operands of that type, weights constant, windows that kernels for lines take, channels-last.
Verdict expand_depthwise_supports(const Problem& problem, DType type);
double expand_depthwise_work(const Problem& problem);

}  // namespace tenfold::backends::cpu
