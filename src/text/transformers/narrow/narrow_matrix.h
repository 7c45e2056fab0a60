// The matrix of a linear layer in 4 or 8 bits, which plans keep as narrow as it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenfold/network.h"

namespace tenfold::transformers {

struct NarrowMatrix {
  Tensor values;                     // i4, u4, f4e2m1, i8 or u8, [in, out]
  Tensor scales;                     // f32[blocks, out]; of e2m1 f8e8m0 or f8e4m3fn
  float global = 1;                  // divides scales of f8e4m3fn
  Tensor zeros;                      // zero points of the values' type, [blocks, out]; undefined: all are 0
  std::int64_t block = 0;            // neighbors along `in` that share a scale
  std::vector<std::int64_t> order;   // row i of the values is for column order[i] of the activations; empty: for column i
};

// x times the matrix; `name` is the layer's.
NetworkTensor narrow_product(Network& net, NetworkTensor x, const NarrowMatrix& matrix, const std::string& name);

// Makes a matrix of values without a sign, whose zero point is half of their range where no other is set.
class NarrowMaker {
 public:
  NarrowMaker(int bits, std::int64_t in, std::int64_t out, std::int64_t block);
  std::int64_t blocks() const { return blocks_; }
  // Of each place once.
  void set(std::int64_t row, std::int64_t column, std::uint32_t value) { put(values_, row * out_ + column, value); }
  void set_row(std::int64_t row, std::int64_t column, std::span<const std::uint8_t> values);   // from a column on
  void set_scale(std::int64_t block, std::int64_t column, float scale) { scales_[block * out_ + column] = scale; }
  void set_zero(std::int64_t block, std::int64_t column, std::uint32_t zero) {
    zeros_[static_cast<std::size_t>(block * out_ + column)] = static_cast<std::uint8_t>(zero);
  }
  NarrowMatrix take();   // without zero points where all are half of the range: the values have a sign then
  NarrowMatrix take_e2m1(Tensor scales, float global);  // values of 4 bits are e2m1

 private:
  void put(std::uint8_t* to, std::int64_t i, std::uint32_t value) const {
    if (bits_ == 8)
      to[i] = static_cast<std::uint8_t>(value);
    else
      to[i / 2] = static_cast<std::uint8_t>(to[i / 2] | value << (i % 2 * 4));
  }
  int bits_;
  std::int64_t out_, blocks_;
  NarrowMatrix matrix_;
  std::uint8_t* values_;
  float* scales_;
  std::vector<std::uint8_t> zeros_;
};

}  // namespace tenfold::transformers
