// The data of a product as rows: what each of its sums multiplies the weights with.
#pragma once

#include <vector>

#include "quant/product_weights.h"
#include "tenfold/tensor.h"

namespace tenfold::quant {

class ProductRows {
 public:
  ProductRows(const ir::Node& product, const ProductWeights& w);
  bool known() const { return known_; }   // convolutions of two dimensions with explicit borders, and matrix products
  // f32[rows, groups * terms], one row behind another; of many rows, or places of a convolution, some. `factors`: of channels; empty: none.
  std::vector<float> of(const Tensor& data, const std::vector<float>& factors) const;

 private:
  struct Window { std::int64_t size[2], stride[2], dilation[2], begin[2], end[2]; };
  std::vector<float> of_channels_last(const Tensor& data, const std::vector<float>& factors) const;

  ProductWeights w_;
  Window window_ = {};
  bool known_ = true;
};

}  // namespace tenfold::quant
