// What two tokens that stand side by side become, and how early.
#pragma once

#include <cstdint>
#include <vector>

namespace tenfold::tokenizing {

struct Merge {
  std::uint32_t rank = UINT32_MAX;   // the lowest is done first; the highest number: none
  std::int32_t id = -1;
};

class PairTable {
 public:
  explicit PairTable(std::size_t pairs) {
    std::size_t size = 16;
    while (size < 2 * pairs) size *= 2;
    entries_.resize(size), mask_ = size - 1;
  }
  void set(std::int32_t first, std::int32_t second, Merge merge) {
    std::size_t i = slot(first, second);
    while (entries_[i].merge.id >= 0 && !(entries_[i].first == first && entries_[i].second == second)) i = (i + 1) & mask_;
    entries_[i] = {first, second, merge};
  }
  Merge find(std::int32_t first, std::int32_t second) const {
    for (std::size_t i = slot(first, second);; i = (i + 1) & mask_) {
      const Entry& entry = entries_[i];
      if (entry.merge.id < 0 || (entry.first == first && entry.second == second)) return entry.merge;
    }
  }

 private:
  struct Entry {
    std::int32_t first = 0, second = 0;
    Merge merge;
  };
  std::size_t slot(std::int32_t first, std::int32_t second) const {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(first)} << 32 | static_cast<std::uint32_t>(second);
    const std::uint64_t mixed = (key ^ key >> 29) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed >> 32) & mask_;
  }

  std::vector<Entry> entries_;   // open addressing; its size is a power of two, at most half of it is used
  std::size_t mask_ = 0;
};

}  // namespace tenfold::tokenizing
