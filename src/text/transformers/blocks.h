// What transformers are made of, as nodes of a Network with weights under their names in the folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tenfold/network.h"
#include "text/transformers/narrow/narrow_weights.h"
#include "text/transformers/weights.h"

namespace tenfold::transformers {

class Blocks {
 public:
  Blocks(Network& net, const Weights& weights) : net(net), weights(weights) {}
  Network& net;
  const Weights& weights;
  NarrowSource narrow;         // of linear layers; null: all are floats
  // Sees every product; a matrix that it returns stands for the layer's weights. Empty: nobody looks.
  std::function<std::optional<NarrowMatrix>(NetworkTensor x, const LinearLayer& layer)> look;
  NetworkTensor mask, hidden;  // bool[batch, tokens], false where there is none, and what attention adds there; undefined: all are
  void set_mask(NetworkTensor mask);

  NetworkTensor weight(const std::string& name, const Shape& shape) const;  // in f32, whatever the file has; layers may share it
  NetworkTensor rows_of(const std::string& name, const Shape& shape, NetworkTensor ids) const;   // of a table, in f32
  NetworkTensor integers(const std::vector<std::int64_t>& values) const;
  NetworkTensor scalar(float value) const;
  NetworkTensor product(NetworkTensor x, const LinearLayer& layer) const;
  NetworkTensor linear(const std::string& name, NetworkTensor x, std::int64_t in, std::int64_t out, bool bias = true) const;
  NetworkTensor layer_norm(const std::string& name, NetworkTensor x, std::int64_t width, float epsilon, bool bias = true) const;
  NetworkTensor rms_norm(const std::string& name, NetworkTensor x, std::int64_t width, float epsilon) const;
  // Softmax(q k^T / sqrt(size) + bias) v of [batch, tokens, width], under the mask; `bias` of [1, heads or 1, tokens, tokens] may be left
  // out. Where `scaled` is false, scores are not divided.
  NetworkTensor attention(NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads, std::int64_t width, NetworkTensor bias,
                          bool scaled = true) const;
  // The same of q and k that are [batch, heads, tokens, size].
  NetworkTensor attention_of_heads(NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads, std::int64_t width,
                                   NetworkTensor bias, bool scaled = true) const;
  NetworkTensor by_head(NetworkTensor x, std::int64_t heads, std::int64_t size) const;  // [batch, heads, tokens, size]
  // A slice of the last axis, of so many elements.
  NetworkTensor columns(NetworkTensor x, std::int64_t first, std::int64_t count) const;
  // gelu, gelu_new, relu, silu, tanh, sigmoid, identity, and torch's names of them. Throws unsupported.
  NetworkTensor activation(const std::string& kind, NetworkTensor x) const;
  // How many tokens the texts `ids` of [batch, tokens] have: i64[1].
  NetworkTensor length(NetworkTensor ids) const;
  NetworkTensor sum(NetworkTensor a, NetworkTensor b) const { return net.elementwise(Elementwise::sum, a, b); }
  // Rows `first` to first + length of a table along axis 0.
  NetworkTensor rows(NetworkTensor table, std::int64_t first, NetworkTensor length) const;

 private:
  NetworkTensor stored(const std::string& name, const Shape& shape) const;   // in the file's type
  NetworkTensor floats(NetworkTensor x) const;
  mutable std::map<std::string, NetworkTensor> weights_, stored_;  // that are in the network
};

}  // namespace tenfold::transformers
