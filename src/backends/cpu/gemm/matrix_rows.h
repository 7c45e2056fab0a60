// The rows of a strided matrix stack: all axes of an operand but the last one, as one list.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// Axes that follow each other in memory are merged; rows one stride apart are the common case.
class MatrixRows {
 public:
  static constexpr int kMaxAxes = 8;
  // Of axes [first, last) of an operand.
  MatrixRows(const Bound& operand, int first, int last) noexcept {
    for (int i = last - 1; i >= first; --i) {
      const std::int64_t extent = operand.dims[i], stride = operand.strides[i];
      if (extent == 1) continue;
      if (axes_ > 0 && stride == stride_[axes_ - 1] * extent_[axes_ - 1])
        extent_[axes_ - 1] *= extent;
      else
        extent_[axes_] = extent, stride_[axes_++] = stride;
    }
  }
  // Element offset of a row.
  std::int64_t offset(std::int64_t row) const noexcept {
    if (axes_ <= 1) return row * (axes_ ? stride_[0] : 0);
    std::int64_t at = 0;
    for (int i = 0; i + 1 < axes_; ++i) {
      at += row % extent_[i] * stride_[i];
      row /= extent_[i];
    }
    return at + row * stride_[axes_ - 1];
  }
  bool uniform() const noexcept { return axes_ <= 1; }
  std::int64_t stride() const noexcept { return axes_ ? stride_[0] : 0; }  // of uniform rows

 private:
  int axes_ = 0;
  std::int64_t extent_[kMaxAxes] = {}, stride_[kMaxAxes] = {};
};

// Whether axes [first, last) of a described operand lie one stride apart, whatever their extents.
inline bool uniform_rows(const OperandDesc& o, int first, int last) {
  if (o.dense) return true;
  // The stride of an axis of one element says nothing about its neighbors.
  std::size_t inner = 0;
  bool found = false;
  for (int i = last; i-- > first;) {
    const auto at = static_cast<std::size_t>(i);
    if (o.dims[at] == ir::Dim(1)) continue;
    if (found && o.strides[at] != o.strides[inner] * o.dims[inner]) return false;
    inner = at, found = true;
  }
  return true;
}
inline bool unit_innermost(const OperandDesc& o) { return o.dense || o.dims.empty() || o.strides.back() == ir::Dim(1); }

}  // namespace tenfold::backends::cpu
