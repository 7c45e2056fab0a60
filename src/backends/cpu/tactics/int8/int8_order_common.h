// Sorts the groups of k of packed int8 weights into the classes that decide how they are multiplied without saturation (Int8Class).
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/int8/int8.h"

namespace tenfold::backends::cpu {

// A chunk of one panel: `groups` groups of 4 values of k, each `width` columns wide.
struct Int8Chunk {
  std::int64_t groups, width;
  std::int64_t values() const { return groups * 4 * width; }
  std::int64_t order_words() const { return kInt8Classes + groups; }

  // `values`: [groups * 4][width]. Writes their order and the panel's bytes, and adds to `constants`, one per column, what has to be
  // added to results because odd values of A are complemented in flipped groups.
  void pack(const std::int8_t* values, std::uint16_t* order, std::int8_t* packed, std::int32_t* constants) const;
  void unpack(const std::uint16_t* order, const std::int8_t* packed, std::int8_t* values) const;
  // Whether an order read from a plan names groups of this chunk only, and as many as there are.
  bool has(const std::uint16_t* order) const noexcept;
  // Stands in for an order that is none, as in memory that the tuner fills: the groups as they come, in classes as random weights have.
  std::vector<std::uint16_t> typical_order() const;
};

}  // namespace tenfold::backends::cpu
