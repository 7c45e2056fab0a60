// Second moments of what a product multiplies its weights with.
#pragma once

#include <vector>

#include "quant/channel_stats.h"

namespace tenfold::quant {

// For each group of channels a symmetric matrix over the terms of one sum.
struct Moments {
  Moments(const ir::Node& product, const ProductWeights& w);
  bool known() const { return known_; }   // convolutions of two dimensions with explicit borders, and matrix products
  // `factors`: of channels; empty: none. Of many rows, or places of a convolution, some.
  void add(const Tensor& data, const std::vector<float>& factors);
  const float* of_group(std::int64_t group) const { return sums.data() + group * w.terms() * w.terms(); }

  ProductWeights w;
  std::vector<float> sums;

 private:
  void add_rows(const std::vector<float>& rows, std::int64_t count);   // [count, in * taps]
  struct Window { std::int64_t size[2], stride[2], dilation[2], begin[2], end[2]; } window_ = {};
  bool known_ = true;
};

// Weights of one sum as bytes, by turns changed to their other neighbour where that lessens the error of the sum, which `moments` weigh.
void round_by_moments(const float* moments, std::int64_t terms, const float* weights, float scale, std::int8_t* bytes, std::int64_t step);

}  // namespace tenfold::quant
