// One layer of a decoder as an engine of its own: what calibration runs, so that no more than a layer is in memory in floats.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "text/decoders/model.h"

namespace tenfold::decoders {

// A layer's linear products, in the order of the network; those of one input share it.
struct LayerProduct {
  transformers::LinearLayer layer;
  std::size_t input = 0;
};

class LayerEngine {
 public:
  static constexpr std::int64_t kEmbeddings = -1;
  // What stands for a product's weights, or nothing: the model's own.
  using Rounded = std::function<std::optional<transformers::NarrowMatrix>(const transformers::LinearLayer&)>;
  // In f32. `layer` kEmbeddings: what goes into the first one. With `rounded` run() gives no inputs of products. Texts have at most
  // `tokens` tokens. Throws unsupported for kinds of models whose layers cannot be told apart.
  LayerEngine(const Model& model, std::int64_t layer, std::int64_t tokens, int threads, const Rounded& rounded = {});

  struct Result {
    Tensor y;                      // [1, tokens, width]; undefined behind the last layer
    std::vector<Tensor> inputs;    // of products: [1, tokens, in]
  };
  // Of ids behind kEmbeddings, else of `x`, the y of the layer in front.
  Result run(const std::vector<std::int32_t>& ids, const Tensor& x);
  const std::vector<LayerProduct>& products() const { return products_; }

 private:
  std::vector<LayerProduct> products_;
  std::size_t inputs_ = 0;
  std::optional<Engine> engine_;
  std::unique_ptr<ExecutionContext> context_;
  std::vector<Tensor> past_;   // by binding; undefined: it is none
};

}  // namespace tenfold::decoders
