// An entry of a map, made where it is not there. What making throws leaves the map as it was: no entry stands for a value that never was.
#pragma once

#include <utility>

namespace tenfold {

// `make` may not change the map.
template <class Map, class Make>
typename Map::mapped_type& find_or_make(Map& map, const typename Map::key_type& key, Make&& make) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  return map.emplace(key, std::forward<Make>(make)()).first->second;
}

}  // namespace tenfold
