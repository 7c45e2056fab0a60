// What lies between a loop's or branch's entries and some values: the layers of its body.
#pragma once

#include <map>
#include <set>

#include "layers/layers_impl.h"

namespace tenfold::layers {

using Key = std::pair<std::int32_t, std::int32_t>;  // layer and result; -1 and a tensor's number
inline Key key_of(const LayerOperand& o) { return o.layer >= 0 ? Key{o.layer, o.result} : Key{-1, o.tensor.index}; }

inline Key key_of(std::size_t layer, std::size_t result = 0) {
  return {static_cast<std::int32_t>(layer), static_cast<std::int32_t>(result)};
}

// The layers of one region.
struct Region {
  std::int64_t number;
  std::vector<std::size_t> entries, controls, outputs;
};

// What lies between a region's entries and some values.
struct RegionBody {
  std::set<std::size_t> inside;
  std::vector<std::size_t> order;       // each behind those that it reads
  std::map<Key, LayerOperand> captures;  // what they read from outside
};

RegionBody body_of(const LayerStore& layers, const Region& region, const std::vector<LayerOperand>& targets);

}  // namespace tenfold::layers
