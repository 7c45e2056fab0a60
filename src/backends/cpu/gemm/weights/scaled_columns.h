// What weights in fixed point of every width have beside their integers: what balances each row of k, a step for each column, and whether
// kernels can multiply these.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/checked.h"

namespace tenfold::backends::cpu {

class ScaledColumns {
 public:
  static constexpr std::int64_t kGroup = 128, kPanel = 32;   // columns of a group of pairs, and of what is decoded at once

  std::int64_t k() const { return k_; }
  std::int64_t depth() const { return depth_; }   // k, padded
  std::int64_t bytes() const { return head_at_ + 64; }
  std::int64_t group_panels(std::int64_t group) const { return std::min<std::int64_t>(kGroup / 16, (n_ + 15) / 16 - kGroup / 16 * group); }
  const float* balance(const void* packed) const { return floats(packed, balance_at_); }   // of each k
  const float* step(const void* packed) const { return floats(packed, step_at_); }         // of each column, zeros behind
  // False: steps or weights are Inf, NaN or extremes, which kernels cannot multiply.
  bool ordinary(const void* packed) const { return *floats(packed, head_at_) != 0; }

 protected:
  // `integers`: their bytes, in front of all else.
  ScaledColumns(std::int64_t k, std::int64_t n, std::int64_t depth, std::int64_t integers)
      : k_(k), n_(n), depth_(depth), balance_at_(integers), step_at_(balance_at_ + round_up(k, 64) * 4),
        head_at_(step_at_ + round_up(n, kGroup) * 4) {}
  // Pairs: [128 columns][pair of k][panel of 16 columns, those that exist][column][2]; a pair is 16 of k apart. The integers in front of
  // the pair that holds (k, n).
  std::int64_t pair_at(std::int64_t k, std::int64_t n) const {
    const std::int64_t pair = k / 32 * 16 + k % 16;
    return n / kGroup * kGroup * depth_ + pair * group_panels(n / kGroup) * 32 + n % kGroup * 2;
  }

  std::int64_t k_, n_, depth_, balance_at_, step_at_, head_at_;

 private:
  static const float* floats(const void* packed, std::int64_t bytes) {
    return reinterpret_cast<const float*>(static_cast<const char*>(packed) + bytes);
  }
};

}  // namespace tenfold::backends::cpu
