#include "quant/channel_strength.h"

#include <algorithm>
#include <cmath>

namespace tenfold::quant {
namespace {

using Factors = std::vector<double>;

// A product's weights, as much of them as the error depends on.
struct Sums {
  explicit Sums(const ir::Node& product) : w(*weights_of(product)), weights(product.in(1)->constant->tensor.data<float>()) {
    squares.assign(static_cast<std::size_t>(w.in), 0), largest.assign(static_cast<std::size_t>(w.in), 0);
    w.each([&](std::int64_t at, std::int64_t in, std::int64_t) {
      const double x = std::fabs(static_cast<double>(weights[at]));
      const auto i = static_cast<std::size_t>(in);
      squares[i] += x * x, largest[i] = std::max(largest[i], x);
    });
  }
  // Of the step of weights, over all sums of the product.
  double of_weights(const Factors& f, const ChannelStats& stats) const {
    std::vector<double> max(static_cast<std::size_t>(w.out), 0), energy(static_cast<std::size_t>(w.out), 0);
    w.each([&](std::int64_t at, std::int64_t in, std::int64_t out) {
      const auto i = static_cast<std::size_t>(in), o = static_cast<std::size_t>(out);
      max[o] = std::max(max[o], std::fabs(static_cast<double>(weights[at])) / f[i]);
      energy[o] += stats.squares[i] / static_cast<double>(stats.count) * f[i] * f[i];
    });
    double sum = 0;
    for (std::size_t o = 0; o < max.size(); ++o) sum += max[o] * max[o] / (127.0 * 127.0) / 12 * energy[o];
    return sum;
  }
  double of_data(const Factors& f, double step) const {
    double sum = 0;
    for (std::size_t i = 0; i < f.size(); ++i) sum += squares[i] / (f[i] * f[i]);
    return sum * step * step / 12;
  }
  ProductWeights w;
  const float* weights;
  std::vector<double> squares, largest;   // by input channel
};

double step_of(const Factors& f, const ChannelStats& stats, bool around_zero) {
  double low = 0, high = 0;
  for (std::size_t c = 0; c < f.size(); ++c)
    low = std::min(low, static_cast<double>(stats.low[c]) * f[c]), high = std::max(high, static_cast<double>(stats.high[c]) * f[c]);
  return around_zero ? std::max(high, -low) / 127 : (high - low) / 255;
}

// Only what is wider than most channels is narrowed, by a power of how much wider it is.
Factors narrowing(const ChannelStats& stats, double power) {
  std::vector<float> widths;
  for (std::size_t c = 0; c < stats.low.size(); ++c)
    if (stats.largest(c) > 0) widths.push_back(stats.largest(c));
  Factors f(stats.low.size(), 1);
  if (widths.empty()) return f;
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2), widths.end());
  const double middle = static_cast<double>(widths[widths.size() / 2]);
  for (std::size_t c = 0; c < f.size(); ++c) f[c] = std::pow(std::max(1.0, static_cast<double>(stats.largest(c)) / middle), -power);
  return f;
}

// SmoothQuant's: what makes channels of the data wide is divided between them and the weights.
Factors dividing(const ChannelStats& stats, const std::vector<Sums>& products, double power) {
  Factors f(stats.low.size(), 1);
  constexpr double kMax = 64;   // dead channels decide nothing
  for (std::size_t c = 0; c < f.size(); ++c) {
    double max = 0;
    for (const Sums& p : products) max = std::max(max, p.largest[c]);
    const double width = static_cast<double>(stats.largest(c));
    if (width > 0 && max > 0) f[c] = std::pow(max, 1 - power) / std::pow(width, power);
  }
  double logs = 0;
  for (const double x : f) logs += std::log(x);
  const double mean = std::exp(logs / static_cast<double>(f.size()));
  for (double& x : f) x = std::clamp(x / mean, 1 / kMax, kMax);
  return f;
}

}  // namespace

Strength best_strength(const DataOperand& operand, const ChannelStats& stats, bool around_zero) {
  std::vector<Sums> products;
  for (const ir::Node* p : operand.products) products.emplace_back(*p);
  const auto error = [&](const Factors& f) {
    const double step = step_of(f, stats, around_zero);
    double sum = 0;
    for (const Sums& p : products) sum += p.of_data(f, step) + p.of_weights(f, stats);
    return sum;
  };
  Strength best;
  best.before = best.after = error(Factors(stats.low.size(), 1));
  const auto consider = [&](const Factors& f) {
    const double e = error(f);
    if (!(e < best.after)) return;
    best.after = e;
    best.factors.assign(f.begin(), f.end());
  };
  for (const double power : {0.3, 0.5, 0.7, 0.85, 1.0}) consider(narrowing(stats, power)), consider(dividing(stats, products, power));
  return best;
}

}  // namespace tenfold::quant
