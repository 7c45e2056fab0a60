#include "text/decoders/quantize/layer_engine.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "tenfold/engine.h"
#include "text/fail.h"

namespace tenfold::decoders {

using transformers::LinearLayer;

namespace {

std::string input_name(std::size_t i) { return "input " + std::to_string(i); }

// The network of a layer, cut out of the whole.
class LayerNetwork {
 public:
  LayerNetwork(const Model& model, std::int64_t layer, std::int64_t tokens, const LayerEngine::Rounded& rounded)
      : net("layer"), model_(model), layer_(layer), cache_(model.cache), rounded_(rounded) {
    cache_.capacity = tokens, cache_.type = DType::f32;
    Blocks b(net, model.weights);
    b.look = [this](NetworkTensor x, const LinearLayer& one) { return see(x, one); };
    const tokenizing::Json fields = model.json();
    const NetworkTensor ids = net.input("ids", DType::i32, {"batch", "tokens"}),
                        positions = net.input("positions", DType::i32, {"batch", "tokens"});
    const NetworkTensor last = net.input("last", DType::i32, {"batch"});   // of the whole; cut off again
    CachedAttention attention(b, cache_, positions);
    model.architecture->hidden({b, fields, model.prefix, ids, positions, last, attention, [this](auto i, auto x) { return enter(i, x); }});
    if (!seen_)
      tokenizing::fail(ErrorKind::unsupported, "layers of '" + model.type + "' cannot be calibrated one by one; leave method and data out");
    cut();
  }
  Network net;
  std::vector<LayerProduct> products;
  std::map<std::int32_t, std::size_t> inputs;   // of products, by value

 private:
  NetworkTensor enter(std::int64_t layer, NetworkTensor x) {
    now_ = layer;
    if (layer == layer_ + 1) net.mark_output(x, "y");
    seen_ |= layer == layer_ || layer == layer_ + 1;
    return layer == layer_ ? net.input("x", DType::f32, {"batch", "tokens", model_.width}) : x;
  }

  std::optional<transformers::NarrowMatrix> see(NetworkTensor x, const LinearLayer& one) {
    if (now_ != layer_ || layer_ == LayerEngine::kEmbeddings) return std::nullopt;
    if (rounded_) return rounded_(one);
    const auto [at, is_new] = inputs.emplace(x.index, inputs.size());
    if (is_new) net.mark_output(x, input_name(at->second));
    products.push_back({one, at->second});
    return std::nullopt;
  }

  void cut() {
    for (std::int64_t i = 0; i < cache_.layers; ++i)
      for (const bool values : {false, true}) net.remove_output(present_name(i, values));
    net.remove_unused();
    for (const NetworkTensor input : net.inputs())
      if (net.users(input).empty()) net.remove_input(net.name(input));
  }

  const Model& model_;
  std::int64_t layer_, now_ = LayerEngine::kEmbeddings;
  CacheSizes cache_;
  const LayerEngine::Rounded& rounded_;
  bool seen_ = false;
};

Tensor zeros(DType type, const Shape& shape) {
  Tensor t(type, shape);
  std::memset(t.mutable_raw(), 0, static_cast<std::size_t>(t.bytes()));
  return t;
}

OptimizationProfile profile_of(const Network& net, std::int64_t most) {
  OptimizationProfile profile;
  for (const NetworkTensor input : net.inputs()) {
    const auto shape = [&](std::int64_t tokens) {
      Shape shape;
      for (const NetworkDim& dim : net.dims(input))
        shape.push_back(dim.extent >= 0 ? dim.extent : dim.name == "batch" ? 1 : tokens);
      return shape;
    };
    profile[net.name(input)] = {shape(1), shape(most), shape(most)};
  }
  return profile;
}

Tensor tokens_of(const std::vector<std::int32_t>& values) {
  Tensor t(DType::i32, {1, static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<std::int32_t>());
  return t;
}

}  // namespace

LayerEngine::LayerEngine(const Model& model, std::int64_t layer, std::int64_t tokens, int threads, const Rounded& rounded) {
  const LayerNetwork made(model, layer, tokens, rounded);
  products_ = made.products, inputs_ = made.inputs.size();
  BuildConfig config;
  config.optimization_level = 0, config.tf32 = false, config.threads = threads;
  config.profiles = {profile_of(made.net, tokens)};
  engine_ = build(made.net, config);
  context_ = engine_->create_context();
  for (const BindingInfo& binding : engine_->bindings()) {
    const bool is_past = binding.is_input && binding.name.starts_with("past.");
    past_.push_back(is_past ? zeros(DType::f32, {1, model.cache.heads, tokens, model.cache.size}) : Tensor());
  }
}

LayerEngine::Result LayerEngine::run(const std::vector<std::int32_t>& ids, const Tensor& x) {
  std::vector<std::int32_t> places(ids.size());
  std::iota(places.begin(), places.end(), 0);
  std::vector<Tensor> inputs;
  std::map<std::string, std::size_t> outputs;
  for (std::size_t i = 0; i < engine_->bindings().size(); ++i) {
    const BindingInfo& binding = engine_->bindings()[i];
    if (!binding.is_input) outputs.emplace(binding.name, outputs.size());
    else if (past_[i].defined()) inputs.push_back(past_[i]);
    else if (binding.name == "x") inputs.push_back(x);
    else if (binding.name == "ids") inputs.push_back(tokens_of(ids));
    else if (binding.name == "positions") inputs.push_back(tokens_of(places));
    else if (binding.name == "start") inputs.push_back(zeros(DType::i64, {1}));
    else inputs.push_back(zeros(DType::boolean, {static_cast<std::int64_t>(ids.size())}));
  }
  std::vector<Tensor> results = context_->run(inputs);
  Result result;
  if (const auto y = outputs.find("y"); y != outputs.end()) result.y = results[y->second];
  for (std::size_t i = 0; i < inputs_; ++i) result.inputs.push_back(results[outputs.at(input_name(i))]);
  return result;
}

}  // namespace tenfold::decoders
