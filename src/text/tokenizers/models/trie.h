// A set of strings of scalars, each with a number, that are looked for as prefixes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/chars.h"

namespace tenfold::tokenizing {

class Trie {
 public:
  static constexpr std::uint32_t kRoot = 0, kNone = UINT32_MAX;

  Trie() : values_{-1} { grow(1 << 10); }
  std::uint32_t add(std::uint32_t from, char32_t c);   // the node behind `c`, which is made where there is none
  void set(std::uint32_t node, std::int32_t value) { values_[node] = value; }
  // kNone: nothing goes on so.
  std::uint32_t next(std::uint32_t from, char32_t c) const {
    for (std::size_t i = slot(from, c);; ++i) {
      const Edge& edge = edges_[i & mask_];
      if (edge.to == kNone || (edge.from == from && edge.c == c)) return edge.to;
    }
  }
  std::int32_t value(std::uint32_t node) const { return values_[node]; }   // -1: no string ends here

 private:
  struct Edge { std::uint32_t from = 0; char32_t c = 0; std::uint32_t to = kNone; };
  static std::size_t slot(std::uint32_t from, char32_t c) {
    const std::uint64_t mixed = (std::uint64_t{from} << 21 ^ c) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed >> 32);
  }
  void grow(std::size_t size);

  std::vector<Edge> edges_;   // open addressing; its size is a power of two, at most half of it is used
  std::size_t mask_ = 0;
  std::vector<std::int32_t> values_;
};

}  // namespace tenfold::tokenizing
