// What equalize and smooth have in common.
#include <algorithm>
#include <cmath>

#include "quant/channel_strength.h"
#include "quant/ranges.h"
#include "quant/correction_method.h"
#include "quant/scale_channels.h"

namespace tenfold::quant {
namespace {

Tensor scaled(const Tensor& t, const ChannelView& view, const std::vector<float>& factors) {
  Tensor result(DType::f32, t.shape());
  const float* from = t.data<float>();
  auto* to = result.mutable_data<float>();
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t c = 0; c < view.channels; ++c)
      for (std::int64_t i = 0; i < view.inner; ++i, ++from, ++to) *to = *from * factors[static_cast<std::size_t>(c)];
  return result;
}

// One end of a range. What was not clipped is not clipped; else the samples that are run again are few, and the end that all of them gave
// changes as that of the few does. `extremes`: of each channel, over all samples.
double changed(double all, const std::vector<float>& extremes, const std::vector<float>& factors, double before, double after) {
  double max = 0, scaled = 0;
  for (std::size_t c = 0; c < extremes.size(); ++c) {
    const double x = std::fabs(static_cast<double>(extremes[c]));
    max = std::max(max, x), scaled = std::max(scaled, x * static_cast<double>(factors[c]));
  }
  if (std::fabs(all) >= max) return all < 0 ? -scaled : scaled;
  return before != 0 ? all * after / before : after;
}

}  // namespace

std::optional<Ranges> with_scaled_channels(const CorrectionInput& s, bool (*is_for)(const ir::Graph&, const DataOperand&),
                                           double min_gain) {
  Ranges result = s.ranges;
  DataOperands scaled_operands;
  for (const auto& [name, operand] : data_operands(s.graph, s.placing)) {
    const auto stats = s.channels.find(name);
    const auto range = s.ranges.find(name);
    if (stats == s.channels.end() || stats->second.count == 0 || range == s.ranges.end()) continue;
    if (s.ranges.corrections.channels.count(name)) continue;
    if (static_cast<std::int64_t>(stats->second.low.size()) != operand.channels || !is_for(s.graph, operand)) continue;
    Strength best = best_strength(operand, stats->second, s.placing.around_zero(range->second.low));
    if (best.factors.empty() || best.after > best.before * (1 - min_gain)) continue;
    result.corrections.channels[name] = std::move(best.factors), scaled_operands[name] = operand;
  }
  if (scaled_operands.empty()) return {};

  struct Pair { Histogram before, after; };
  std::map<std::string, Pair, std::less<>> seen;
  std::set<std::string, std::less<>> values;
  std::multimap<std::string, const DataOperand*, std::less<>> readers;
  for (const auto& [name, operand] : scaled_operands) values.insert(operand.seen), readers.emplace(operand.seen, &operand), seen[name];
  s.run([&](std::string_view value, const Tensor& t) {
    if (t.dtype() != DType::f32) return;
    for (auto [at, end] = readers.equal_range(value); at != end; ++at) {
      const DataOperand& operand = *at->second;
      const Tensor after = scaled(t, operand.view(t), result.corrections.channels.at(operand.value->name));
      Pair& pair = seen.find(operand.value->name)->second;
      pair.before.add({t.data<float>(), static_cast<std::size_t>(t.size())});
      pair.after.add({after.data<float>(), static_cast<std::size_t>(after.size())});
    }
  }, values, kFewSamples);
  for (const auto& [name, operand] : scaled_operands) {
    const Pair& pair = seen[name];
    const Range all = s.ranges.at(name);
    const Grid grid = s.placing.around_zero(all.low) ? Grid{255, true} : Grid{};
    const Range before = s.calibrator.range(pair.before, grid), after = s.calibrator.range(pair.after, grid);
    const ChannelStats& stats = s.channels.at(name);
    const std::vector<float>& factors = result.corrections.channels.at(name);
    const Range range{changed(all.low, stats.low, factors, before.low, after.low),
                      changed(all.high, stats.high, factors, before.high, after.high)};
    const bool makes_it = made_by(s.graph, *operand.value) != MadeBy::other;
    result[makes_it ? name : scaled_name(*operand.value)] = range;
  }
  return result;
}

}  // namespace tenfold::quant
