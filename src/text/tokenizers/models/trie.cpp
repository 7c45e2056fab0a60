#include "text/tokenizers/models/trie.h"

namespace tenfold::tokenizing {

void Trie::grow(std::size_t size) {
  std::vector<Edge> old = std::move(edges_);
  edges_.assign(size, {}), mask_ = size - 1;
  for (const Edge& edge : old) {
    if (edge.to == kNone) continue;
    std::size_t i = slot(edge.from, edge.c);
    while (edges_[i & mask_].to != kNone) ++i;
    edges_[i & mask_] = edge;
  }
}

std::uint32_t Trie::add(std::uint32_t from, char32_t c) {
  if (const std::uint32_t known = next(from, c); known != kNone) return known;
  if (2 * values_.size() >= edges_.size()) grow(2 * edges_.size());
  std::size_t i = slot(from, c);
  while (edges_[i & mask_].to != kNone) ++i;
  const auto node = static_cast<std::uint32_t>(values_.size());
  values_.push_back(-1);
  edges_[i & mask_] = {from, c, node};
  return node;
}

}  // namespace tenfold::tokenizing
