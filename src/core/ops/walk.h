// Walk: the elements of an iteration space in row-major order, and where each lies in a strided tensor.
#pragma once

#include <cstdint>

#include "tenfold/tensor.h"

namespace tenfold::ops {

class Walk {
 public:
  Walk(const Shape& dims, const Shape& strides) {
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (!dims_.empty() && dims[d] > 0 && strides_.back() == strides[d] * dims[d]) dims_.back() *= dims[d], strides_.back() = strides[d];
      else dims_.push_back(dims[d]), strides_.push_back(strides[d]);   // dims that one step walks through are one
    index_.assign(dims_.size(), 0);
  }

  // The walk over `space` of a dense tensor that is broadcast to it as numpy does.
  static Walk broadcast(const Shape& space, const Shape& shape) {
    Shape strides(space.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = shape.size(), s = space.size(); i > 0 && s > 0; --i, --s) {
      strides[s - 1] = shape[i - 1] == 1 ? 0 : stride;
      stride *= shape[i - 1];
    }
    return Walk(space, strides);
  }

  std::int64_t offset() const { return offset_; }
  void seek(std::int64_t linear) {
    offset_ = 0;
    for (std::size_t d = dims_.size(); d > 0; --d) {
      const std::int64_t extent = dims_[d - 1] > 0 ? dims_[d - 1] : 1;
      index_[d - 1] = linear % extent;
      linear /= extent;
      offset_ += index_[d - 1] * strides_[d - 1];
    }
  }
  // Elements from here on, this one included, that lie stride() apart from each other.
  std::int64_t stretch() const { return dims_.empty() ? 1 : dims_.back() - index_.back(); }
  std::int64_t stride() const { return dims_.empty() ? 0 : strides_.back(); }
  // Past `count` elements, at most stretch().
  void skip(std::int64_t count) {
    if (dims_.empty()) return;
    offset_ += (count - 1) * strides_.back(), index_.back() += count - 1;
    next();
  }
  // To the next element; after the last one, to the first.
  void next() {
    for (std::size_t d = dims_.size(); d > 0; --d) {
      offset_ += strides_[d - 1];
      if (++index_[d - 1] < dims_[d - 1]) return;
      offset_ -= index_[d - 1] * strides_[d - 1];
      index_[d - 1] = 0;
    }
  }

 private:
  Shape dims_, strides_, index_;
  std::int64_t offset_ = 0;
};

// Element strides of a dense row-major tensor.
inline Shape dense_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * shape[d - 1];
  return strides;
}

}  // namespace tenfold::ops
