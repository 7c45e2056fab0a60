#include "layers/region_body.h"

namespace tenfold::layers {

// Depth first without recursion: chains may be long.
RegionBody body_of(const LayerStore& layers, const Region& region, const std::vector<LayerOperand>& targets) {
  RegionBody found;
  std::set<std::size_t> done;
  std::vector<std::pair<std::size_t, std::vector<LayerOperand>>> waiting;
  const auto is_entry = [&](std::size_t layer) {
    return layers.all[layer].kind->part == RegionPart::entry && layers.all[layer].region() == region.number;
  };
  const auto reads_of = [&](std::size_t layer) {
    return is_entry(layer) ? std::vector<LayerOperand>() : layers.needs(layers.all[layer]);
  };
  const auto enter = [&](const LayerOperand& o) {
    const auto layer = static_cast<std::size_t>(o.layer);
    if (o.layer < 0 || !done.insert(layer).second) return;
    waiting.emplace_back(layer, reads_of(layer));
  };
  const auto is_inside = [&](const LayerOperand& o) { return o.layer >= 0 && found.inside.count(static_cast<std::size_t>(o.layer)) > 0; };
  for (const LayerOperand& target : targets) {
    enter(target);
    while (!waiting.empty()) {
      auto& [layer, reads] = waiting.back();
      if (!reads.empty()) {
        const LayerOperand next = reads.back();
        reads.pop_back();
        enter(next);
        continue;
      }
      const std::size_t ready = layer;
      waiting.pop_back();
      const std::vector<LayerOperand> needs = reads_of(ready);
      if (!is_entry(ready) && std::none_of(needs.begin(), needs.end(), is_inside)) continue;
      found.inside.insert(ready);
      if (!is_entry(ready)) found.order.push_back(ready);
    }
  }
  const auto capture = [&](const LayerOperand& o) {
    if (o.given() && !is_inside(o)) found.captures.emplace(key_of(o), o);
  };
  for (const std::size_t layer : found.order)
    for (const LayerOperand& o : layers.needs(layers.all[layer])) capture(o);
  for (const LayerOperand& target : targets) capture(target);
  return found;
}

}  // namespace tenfold::layers
