// AWQ (Lin 2024, arXiv 2306.00978): channels whose data are large lose less if their weights are scaled up before they are rounded; what
// gives the channels is scaled down by as much. The power of the data's root mean square that serves best is looked for, channels by
// channels; layer_rounding.cpp then looks for scales that cut what is far out.
#include <algorithm>
#include <cmath>

#include "tenfold/internal/interrupts.h"
#include "text/decoders/quantize/layer_rounding.h"
#include "text/transformers/narrow/write_floats.h"

namespace tenfold::decoders {
namespace {

constexpr int kPowers = 20;                 // are tried, from 0 to less than 1
constexpr std::int64_t kOutputs = 128;      // of each product are tried
constexpr double kMinMean = 1e-4;             // of the largest mean: channels that are nearly unused

using Factors = std::vector<float>;

ProductRounding* find(std::vector<ProductRounding>& products, const std::string& name) {
  const auto at = std::find_if(products.begin(), products.end(), [&](const ProductRounding& one) { return one.layer.name == name; });
  return at == products.end() ? nullptr : &*at;
}

// Some outputs of a product, evenly chosen.
struct Excerpt {
  transformers::LinearLayer layer;
  std::vector<float> matrix;
  const DataMoments& data;
  explicit Excerpt(const ProductRounding& of) : layer(of.layer), data(of.moments.used) {
    layer.out = std::min(kOutputs, of.layer.out);
    for (std::int64_t n = 0; n < layer.out; ++n) {
      const auto row = of.matrix.begin() + n * of.layer.out / layer.out * layer.in;
      matrix.insert(matrix.end(), row, row + layer.in);
    }
  }
  // The squares of what rounding with these factors does to the results.
  double cost(const Factors& by, const RoundingMethod& method, DType scale_type) const {
    const auto in = static_cast<std::size_t>(layer.in);
    std::vector<float> scaled = matrix;
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] *= by[i % in];
    const transformers::RoundedMatrix rounded = transformers::round_to_range(scaled, layer, method.form, scale_type);
    for (std::size_t i = 0; i < scaled.size(); ++i)
      scaled[i] = rounded.at(static_cast<std::int64_t>(i / in), static_cast<std::int64_t>(i % in)) / by[i % in] - matrix[i];
    return data.squares(scaled);
  }
};

class Sharing {
 public:
  Sharing(const SharedChannels& channels, std::vector<ProductRounding*> products, const RoundingMethod& method)
      : channels_(channels), products_(std::move(products)), method_(method) {}

  // By channel: those of the best power.
  Factors best() const {
    std::vector<Excerpt> excerpts;
    for (const ProductRounding* one : products_) excerpts.emplace_back(*one);
    const std::vector<double> means = this->means();
    Factors best;
    double least = 0;
    for (int i = 0; i < kPowers; ++i) {
      throw_if_cancelled();
      const Factors factors = of_power(means, static_cast<double>(i) / kPowers), spread = by_input(factors);
      double cost = 0;
      for (std::size_t p = 0; p < excerpts.size(); ++p) cost += excerpts[p].cost(spread, method_, products_[p]->scale_type);
      if (best.empty() || cost < least) best = factors, least = cost;
    }
    return best;
  }

  Factors by_input(const Factors& factors) const {
    Factors all(static_cast<std::size_t>(inputs()));
    for (std::int64_t k = 0; k < inputs(); ++k) all[static_cast<std::size_t>(k)] = factors[channel(k)];
    return all;
  }

 private:
  std::int64_t inputs() const { return products_.front()->layer.in; }
  std::size_t channel(std::int64_t k) const {
    return static_cast<std::size_t>(k / channels_.size / channels_.repeats * channels_.size + k % channels_.size);
  }

  std::vector<double> means() const {
    std::vector<double> squares(static_cast<std::size_t>(channels_.sources.front().count));
    for (std::int64_t k = 0; k < inputs(); ++k) squares[channel(k)] += products_.front()->moments.used.own(k);
    const double largest = *std::max_element(squares.begin(), squares.end());
    for (double& one : squares) one = largest > 0 ? std::max(std::sqrt(one / largest), kMinMean) : 1;
    return squares;
  }

  // The least and the largest are as far from 1.
  static Factors of_power(const std::vector<double>& means, double power) {
    const auto [least, most] = std::minmax_element(means.begin(), means.end());
    const double middle = std::pow(*least * *most, power / 2);
    Factors factors;
    for (const double one : means) factors.push_back(static_cast<float>(std::pow(one, power) / middle));
    return factors;
  }

  const SharedChannels& channels_;
  std::vector<ProductRounding*> products_;
  const RoundingMethod& method_;
};

// Norms and biases, in the type that they have.
void divide(Model& model, const std::string& name, const SharedChannels::Source& source, const Factors& by) {
  Tensor changed = model.weights.take_any(name);
  for (std::int64_t i = 0; i < source.count; ++i) {
    const std::int64_t at = source.first + i;
    float value = 0;
    transformers::read_floats(changed, at, 1, 1, &value);
    const std::uint32_t bits = transformers::bits_of(value / by[static_cast<std::size_t>(i)], changed.dtype());
    if (changed.dtype() == DType::f32)
      changed.mutable_data<std::uint32_t>()[at] = bits;
    else
      changed.mutable_data<std::uint16_t>()[at] = static_cast<std::uint16_t>(bits);
  }
  model.weights.change(name, changed);
}

// Outputs of a product.
void divide(ProductRounding& product, const SharedChannels::Source& source, const Factors& by) {
  const auto in = static_cast<std::size_t>(product.layer.in);
  if (product.divided.empty()) product.divided.resize(static_cast<std::size_t>(product.layer.out), 1.0f);
  for (std::int64_t i = 0; i < source.count; ++i) {
    const auto row = static_cast<std::size_t>(source.first + i);
    product.divided[row] *= by[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < in; ++k) product.matrix[row * in + k] /= by[static_cast<std::size_t>(i)];
  }
}

}  // namespace

void share_factors(Model& model, std::int64_t layer, std::vector<ProductRounding>& products, const RoundingMethod& method) {
  if (!model.architecture->shared_channels) return;
  for (const SharedChannels& channels : model.architecture->shared_channels(model.json(), layer)) {
    std::vector<ProductRounding*> readers;
    for (const std::string& name : channels.products)
      if (ProductRounding* const one = find(products, model.prefix + name)) readers.push_back(one);
    if (readers.size() != channels.products.size()) continue;
    const Sharing sharing(channels, readers, method);
    const Factors factors = sharing.best(), by = sharing.by_input(factors);
    for (ProductRounding* const one : readers) {
      const auto in = static_cast<std::size_t>(one->layer.in);
      for (std::size_t i = 0; i < one->matrix.size(); ++i) one->matrix[i] *= by[i % in];
      one->moments.used = one->moments.used.divided(by), one->moments.held_out = one->moments.held_out.divided(by);
    }
    for (const SharedChannels::Source& source : channels.sources) {
      const std::string name = model.prefix + source.tensor;
      ProductRounding* const product = name.ends_with(".weight") ? find(products, name.substr(0, name.size() - 7)) : nullptr;
      if (product) divide(*product, source, factors);
      else divide(model, name, source, factors);
    }
  }
}

}  // namespace tenfold::decoders
