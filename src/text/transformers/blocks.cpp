#include "text/transformers/blocks.h"

#include <cmath>
#include <limits>
#include <map>

#include "text/fail.h"

namespace tenfold::transformers {

NetworkTensor Blocks::weight(const std::string& name, const Shape& shape) const {
  if (const auto known = weights_.find(name); known != weights_.end()) return weights.shape(name, shape), known->second;
  return weights_[name] = floats(stored(name, shape));
}

NetworkTensor Blocks::stored(const std::string& name, const Shape& shape) const {
  weights.shape(name, shape);
  if (const auto known = stored_.find(name); known != stored_.end()) return known->second;
  return stored_[name] = net.constant(narrow ? weights.take_alone(name, shape) : weights.take(name, shape), name);
}

NetworkTensor Blocks::floats(NetworkTensor x) const { return net.dtype(x) == DType::f32 ? x : net.cast(x, DType::f32); }

NetworkTensor Blocks::integers(const std::vector<std::int64_t>& values) const {
  Tensor tensor(DType::i64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<std::int64_t>());
  return net.constant(std::move(tensor));
}

NetworkTensor Blocks::scalar(float value) const {
  Tensor tensor(DType::f32, {});
  *tensor.mutable_data<float>() = value;
  return net.constant(std::move(tensor));
}

void Blocks::set_mask(NetworkTensor given) {
  mask = given;
  const NetworkTensor keys = net.add_node("Unsqueeze", {mask, integers({1, 2})})[0];
  hidden = net.add_node("Where", {keys, scalar(0), scalar(-std::numeric_limits<float>::infinity())})[0];
}

NetworkTensor Blocks::rows_of(const std::string& name, const Shape& shape, NetworkTensor ids) const {
  if (!narrow) return net.gather(weight(name, shape), ids);
  return floats(net.gather(stored(name, shape), ids));   // the table stays as it is: the logits' product has one of its own
}

NetworkTensor Blocks::product(NetworkTensor x, const LinearLayer& layer) const {
  if (look)
    if (const std::optional<NarrowMatrix> matrix = look(x, layer)) return narrow_product(net, x, *matrix, layer.name);
  if (narrow)
    if (const std::optional<NarrowMatrix> matrix = narrow->take(weights, layer)) return narrow_product(net, x, *matrix, layer.name);
  const Shape shape = layer.by_input ? Shape{layer.in, layer.out} : Shape{layer.out, layer.in};
  return net.matrix_multiply(x, weight(layer.name + ".weight", shape), false, !layer.by_input);
}

NetworkTensor Blocks::linear(const std::string& name, NetworkTensor x, std::int64_t in, std::int64_t out, bool bias) const {
  const NetworkTensor y = product(x, {.name = name, .in = in, .out = out});
  return bias ? sum(y, weight(name + ".bias", {out})) : y;
}

NetworkTensor Blocks::layer_norm(const std::string& name, NetworkTensor x, std::int64_t width, float epsilon, bool bias) const {
  const NetworkTensor shift = bias ? weight(name + ".bias", {width}) : NetworkTensor();
  return net.normalization(x, weight(name + ".weight", {width}), shift, {.axis = -1, .epsilon = epsilon});
}

NetworkTensor Blocks::rms_norm(const std::string& name, NetworkTensor x, std::int64_t width, float epsilon) const {
  return net.add_node("RMSNormalization", {x, weight(name + ".weight", {width})}, {{"epsilon", epsilon}})[0];
}

NetworkTensor Blocks::by_head(NetworkTensor x, std::int64_t heads, std::int64_t size) const {
  return net.shuffle(x, {}, Shape{0, 0, heads, size}, {0, 2, 1, 3});
}

NetworkTensor Blocks::columns(NetworkTensor x, std::int64_t first, std::int64_t count) const {
  Shape start(net.dims(x).size(), 0), size(start.size(), -1);
  start.back() = first, size.back() = count;
  return net.slice(x, start, size);
}

NetworkTensor Blocks::attention(NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads, std::int64_t width,
                                NetworkTensor bias, bool scaled) const {
  return attention_of_heads(by_head(q, heads, width / heads), by_head(k, heads, width / heads), v, heads, width, bias, scaled);
}

NetworkTensor Blocks::attention_of_heads(NetworkTensor q, NetworkTensor k, NetworkTensor v, std::int64_t heads, std::int64_t width,
                                         NetworkTensor bias, bool scaled) const {
  const std::int64_t size = width / heads;
  NetworkTensor scores = net.matrix_multiply(q, k, false, true);
  if (scaled) scores = net.elementwise(Elementwise::div, scores, scalar(std::sqrt(static_cast<float>(size))));
  if (bias.defined()) scores = sum(scores, bias);
  if (hidden.defined()) scores = sum(scores, hidden);
  const NetworkTensor mixed = net.matrix_multiply(net.softmax(scores), by_head(v, heads, size));
  return net.shuffle(mixed, {0, 2, 1, 3}, Shape{0, 0, width});
}

NetworkTensor Blocks::activation(const std::string& kind, NetworkTensor x) const {
  static const std::map<std::string, Activation> kinds{{"gelu", Activation::gelu_erf},      {"GELU", Activation::gelu_erf},
                                                       {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                                       {"relu", Activation::relu},          {"ReLU", Activation::relu},
                                                       {"silu", Activation::swish},         {"swish", Activation::swish},
                                                       {"SiLU", Activation::swish},         {"tanh", Activation::tanh},
                                                       {"Tanh", Activation::tanh},          {"sigmoid", Activation::sigmoid},
                                                       {"Sigmoid", Activation::sigmoid}};
  if (kind == "identity" || kind == "Identity") return x;
  const auto at = kinds.find(kind);
  if (at == kinds.end())
    tokenizing::fail(ErrorKind::unsupported, "the activation '" + kind +
                                                 "' is not supported; gelu, gelu_new, gelu_pytorch_tanh, relu, silu, "
                                                 "tanh, sigmoid and identity are");
  return net.activation(at->second, x);
}

NetworkTensor Blocks::length(NetworkTensor ids) const {
  return net.add_node("Shape", {ids}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}})[0];
}

NetworkTensor Blocks::rows(NetworkTensor table, std::int64_t first, NetworkTensor length) const {
  const NetworkTensor end = first == 0 ? length : sum(length, integers({first}));
  return net.add_node("Slice", {table, integers({first}), end, integers({0})})[0];
}

}  // namespace tenfold::transformers
