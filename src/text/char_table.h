// A number for each of some scalars.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tenfold::tokenizing {

class CharTable {
 public:
  CharTable() : blocks_(kScalars / kBlock, 0), values_(1) { values_[0].fill(-1); }
  void set(char32_t c, std::int32_t value) {
    std::uint16_t& block = blocks_[c / kBlock];
    if (block == 0) {
      block = static_cast<std::uint16_t>(values_.size());
      values_.push_back(values_[0]);
    }
    values_[block][c % kBlock] = value;
  }
  std::int32_t of(char32_t c) const { return values_[blocks_[c / kBlock]][c % kBlock]; }   // -1: it has none

 private:
  static constexpr char32_t kScalars = 0x110000, kBlock = 256;
  std::vector<std::uint16_t> blocks_;
  std::vector<std::array<std::int32_t, kBlock>> values_;
};

}  // namespace tenfold::tokenizing
