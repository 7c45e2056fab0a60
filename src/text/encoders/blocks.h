// What transformers are made of, as nodes of a Network with weights under their names in the folder.
#pragma once

#include <string>

#include "tenfold/network.h"
#include "text/encoders/weights.h"

namespace tenfold::encoders {

class Blocks {
 public:
  Blocks(Network& net, const Weights& weights) : net(net), weights(weights) {}
  Network& net;
  const Weights& weights;
  NetworkTensor mask, hidden;  // bool[batch, tokens], false where there is none, and what attention adds there; undefined: all are
  void set_mask(NetworkTensor mask);

  NetworkTensor weight(const std::string& name, const Shape& shape) const;  // in f32, whatever the file has
  NetworkTensor integers(const std::vector<std::int64_t>& values) const;
  NetworkTensor scalar(float value) const;
  NetworkTensor linear(const std::string& name, NetworkTensor x, std::int64_t in, std::int64_t out, bool bias = true) const;
  NetworkTensor layer_norm(const std::string& name, NetworkTensor x, std::int64_t width, float epsilon) const;
  // Softmax(q k^T / sqrt(size) + bias) v of [batch, tokens, width], under the mask; `bias` of [1, heads, tokens, tokens] may be left out.
  NetworkTensor attention(NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads, std::int64_t width,
                          NetworkTensor bias) const;
  // gelu, gelu_new, relu, silu, tanh, sigmoid, identity, and torch's names of them. Throws unsupported.
  NetworkTensor activation(const std::string& kind, NetworkTensor x) const;
  // How many tokens the texts `ids` of [batch, tokens] have: i64[1].
  NetworkTensor length(NetworkTensor ids) const;
  NetworkTensor sum(NetworkTensor a, NetworkTensor b) const { return net.elementwise(Elementwise::sum, a, b); }
  // Rows `first` to first + length of a table along axis 0.
  NetworkTensor rows(NetworkTensor table, std::int64_t first, NetworkTensor length) const;
};

}  // namespace tenfold::encoders
