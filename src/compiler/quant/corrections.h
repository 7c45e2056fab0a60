// What lessens the error of 8 bits, beside ranges: found by correction methods, applied by place_qdq().
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::quant {

struct Corrections {
  template <class T>
  using Named = std::map<std::string, T, std::less<>>;
  // By the data operand of products: what its channels are multiplied by, and the products' weights divided by.
  Named<std::vector<float>> channels = {};
  // By the result of a product. Weights have the scales that quantize_weights() gives them, once channels are scaled.
  Named<Tensor> weights = {};                // i8
  Named<std::vector<float>> biases = {};     // added to each output channel

  bool empty() const { return channels.empty() && weights.empty() && biases.empty(); }
};

}  // namespace tenfold::quant
