#include "builder/budget/mixes.h"

#include <cstdio>

#include "base/check.h"

namespace tenfold::builder {
namespace {

// Rough, for casts only order proposals: what memory of the kind of device moves in a millisecond, and what a launch costs.
constexpr double kHostBytes = 8e6, kDeviceBytes = 1.5e9, kLaunch = 0.002;

double value_in(const std::map<DType, double>& of, DType type) {
  const auto at = of.find(type);
  return at == of.end() ? 0 : at->second;
}

double cast_ms(double elements, DType from, DType to, bool launches) {
  if (from == to) return 0;
  const double bytes = elements * static_cast<double>(bits(from) + bits(to)) / 8;
  return launches ? kLaunch + bytes / kDeviceBytes : bytes / kHostBytes;
}

// '*' stands for itself in the name of a layer, not for others.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '*' ? std::string("\\*") : std::string(1, c);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share < 0.1 ? "%.1f %%" : "%.0f %%", share * 100);
  return text;
}

}  // namespace

AllocationProblem problem_of(const Layers& layers, bool launches) {
  AllocationProblem p;
  for (const Layer& layer : layers.list) {
    auto& states = p.layers.emplace_back();
    for (const DType type : layer.types) states.push_back({value_in(layer.milliseconds, type), value_in(layer.error, type)});
  }
  for (const Adjacent& a : layers.adjacent) {
    AllocationProblem::Edge& edge = p.edges.emplace_back(AllocationProblem::Edge{a.from, a.to, {}});
    for (const DType from : layers.list[a.from].types)
      for (const DType to : layers.list[a.to].types) edge.milliseconds.push_back(cast_ms(a.elements, from, to, launches));
  }
  return p;
}

std::vector<DType> types_of(const Layers& layers, const Allocation& states) {
  std::vector<DType> types;
  for (std::size_t i = 0; i < states.size(); ++i) types.push_back(layers.list[i].types[static_cast<std::size_t>(states[i])]);
  return types;
}

std::string name_of(const Layers& layers, const std::vector<DType>& types) {
  std::map<DType, int> wider;
  int undecided = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Layer& layer = layers.list[i];
    undecided += layer.types.size() > 1;
    if (types[i] != layer.types.front()) ++wider[types[i]];
  }
  std::string text;
  for (const auto& [type, count] : wider)
    text += text.empty() ? cat(count, " of ", undecided, " layers in ", name(type)) : cat(", ", count, " in ", name(type));
  return text.empty() ? cat(undecided, " layers as narrow as can be") : text;
}

std::vector<LayerPrecision> precisions_for(const Layers& layers, const std::vector<DType>& types, const std::map<std::string, DType>& usual,
                                           bool untried) {
  std::vector<LayerPrecision> list;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Layer& layer = layers.list[i];
    const auto own = usual.find(layer.name);
    if ((untried || layer.types.size() > 1) && own != usual.end() && own->second != types[i])
      list.push_back({escaped(layer.name), types[i]});
  }
  return list;
}

std::string advice_on(const Layer& layer, DType type, double max_error) {
  if (layer.types.size() < 2) return "";
  const DType narrow = layer.types.front();
  const double saves = value_in(layer.milliseconds, layer.types.back()) - value_in(layer.milliseconds, narrow);
  const double share = value_in(layer.error, narrow) / max_error;
  constexpr double kMuch = 0.25;
  if (type != narrow && saves <= 0) return cat("not faster in ", name(narrow), ": ", name(type), " costs no time");
  if (share > 1)
    return cat("over the budget by itself in ", name(narrow), " (", percent(share),
               " of it): needs a wider type, other ranges "
               "(--calibrator, more --data), or a larger --max-error");
  constexpr double kLittle = 0.01;
  if (type != narrow && share < kLittle)
    return cat("almost nothing of the budget in ", name(narrow), ": plans with it narrow were slower, or over the budget as a whole");
  if (type != narrow) return cat(percent(share), " of the budget by itself in ", name(narrow), ": a larger --max-error lets it be narrow");
  if (share > kMuch) return cat(percent(share), " of the budget by itself: --layerPrecisions keeps it wide where its error matters");
  return "";
}

}  // namespace tenfold::builder
