#include "text/decoders/quantize/calibrate.h"

#include "tenfold/internal/interrupts.h"
#include "text/decoders/quantize/layer_engine.h"
#include "text/decoders/quantize/layer_rounding.h"
#include "text/fail.h"

namespace tenfold::decoders {

using transformers::LinearLayer;
using transformers::NarrowMatrix;

namespace {

class Calibration {
 public:
  Calibration(Model& model, const transformers::NarrowLayout& layout, const CalibrationSamples& samples, RoundingMethod method, int threads)
      : model_(model), layout_(layout), samples_(samples), method_(std::move(method)), threads_(threads), longest_(samples.longest()) {
    LayerEngine engine = this->engine(LayerEngine::kEmbeddings);
    for (const auto& ids : samples_.ids) states_.push_back(engine.run(ids, {}).y);
  }

  // The products of the next layer, rounded; the texts go on through them.
  std::vector<ProductRounding> next() {
    std::vector<ProductRounding> products = observed();
    for (ProductRounding& one : products) {
      throw_if_cancelled();
      one.squares = one.moments.held_out.squares(one.matrix);
      one.nearest_error = one.error(method_.nearest(one));
    }
    if (method_.name == "awq") share_factors(model_, layer_, products, method_);
    for (ProductRounding& one : products) {
      throw_if_cancelled();
      one.rounded = method_.round(one);
    }
    if (++layer_ < model_.cache.layers) go_on(products);
    return products;
  }

 private:
  LayerEngine engine(std::int64_t layer, const LayerEngine::Rounded& rounded = {}) const {
    return LayerEngine(model_, layer, longest_, threads_, rounded);
  }

  std::vector<ProductRounding> observed() const {
    LayerEngine engine = this->engine(layer_);
    std::vector<InputMoments> moments;
    for (const LayerProduct& one : engine.products())
      if (one.input == moments.size()) moments.emplace_back(one.layer.in);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      throw_if_cancelled();
      const LayerEngine::Result result = engine.run(samples_.ids[i], states_[i]);
      for (std::size_t k = 0; k < moments.size(); ++k)
        (CalibrationSamples::is_held_out(i) ? moments[k].held_out : moments[k].used)
            .add(result.inputs[k].data<float>(), static_cast<std::int64_t>(samples_.ids[i].size()));
    }
    std::vector<ProductRounding> products;
    for (const LayerProduct& one : engine.products()) {
      const LinearLayer& layer = one.layer;
      const Tensor floats = model_.weights.take_any(layer.name + ".weight");
      products.push_back({.layer = layer,
                          .scale_type = layout_.scale_type(floats.dtype()),
                          .matrix = transformers::matrix_of(floats, layer),
                          .moments = moments[one.input],
                          .divided = {}});
    }
    return products;
  }

  void go_on(const std::vector<ProductRounding>& products) {
    LayerEngine engine = this->engine(layer_ - 1, [&](const LinearLayer& layer) -> std::optional<NarrowMatrix> {
      for (const ProductRounding& one : products)
        if (one.layer.name == layer.name) return transformers::narrow_matrix(one.rounded);
      return std::nullopt;
    });
    for (std::size_t i = 0; i < states_.size(); ++i) {
      throw_if_cancelled();
      states_[i] = engine.run(samples_.ids[i], states_[i]).y;
    }
  }

  Model& model_;
  const transformers::NarrowLayout& layout_;
  const CalibrationSamples& samples_;
  RoundingMethod method_;
  int threads_;
  std::int64_t longest_, layer_ = 0;
  std::vector<Tensor> states_;   // what goes into the layer, by text
};

}  // namespace

std::map<std::string, NarrowLayer> calibrated_layers(Model& model, const transformers::NarrowForm& form,
                                                     const transformers::NarrowLayout& layout, const CalibrationSamples& samples,
                                                     const QuantizeDecoderOptions& options) {
  std::map<std::string, NarrowLayer> layers;
  Calibration calibration(model, layout, samples, {.name = options.method, .form = form}, options.threads);
  for (std::int64_t i = 0; i < model.cache.layers; ++i)
    for (const ProductRounding& one : calibration.next())
      layers[one.layer.name] = {layout.packed(one.rounded),
                                {.name = one.layer.name,
                                 .error = transformers::relative_error(one.matrix, one.rounded),
                                 .output_error = one.error(one.rounded),
                                 .output_error_nearest = one.nearest_error}};
  return layers;
}

}  // namespace tenfold::decoders
