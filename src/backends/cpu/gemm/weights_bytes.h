// Weights of 8 bits times a step of their column, as Q/DQ has them, in the order of FixedWeights::Order::pairs with a byte for each.
#pragma once

#include "backends/cpu/gemm/weights_fixed.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

class ByteWeights {
 public:
  static constexpr std::int64_t kGroup = FixedWeights::kGroup, kPanel = FixedWeights::kPanel;

  ByteWeights(std::int64_t k, std::int64_t n)
      : k_(k),
        n_(n),
        depth_(round_up(k, 32)),
        balance_at_(round_up(n, 16) * depth_),
        step_at_(balance_at_ + round_up(k, 64) * 4),
        head_at_(step_at_ + round_up(n, kGroup) * 4) {}
  std::int64_t k() const { return k_; }
  std::int64_t depth() const { return depth_; }   // k, padded
  std::int64_t bytes() const { return head_at_ + 64; }

  void pack(const std::int8_t* values, const float* steps, void* packed) const;   // k x n, n
  std::int8_t at(const void* packed, std::int64_t k, std::int64_t n) const { return static_cast<const std::int8_t*>(packed)[place(k, n)]; }
  // What stands for weights of kPanel columns at most in rows [first, last) of k: [row][kPanel].
  void decode(const void* packed, std::int64_t first, std::int64_t last, std::int64_t column, double* to) const;

  const char* columns(const void* packed, std::int64_t column) const { return static_cast<const char*>(packed) + column * depth_; }
  std::int64_t group_panels(std::int64_t group) const { return std::min<std::int64_t>(kGroup / 16, (n_ + 15) / 16 - kGroup / 16 * group); }
  const float* balance(const void* packed) const { return floats(packed, balance_at_); }   // of each k: 1
  const float* step(const void* packed) const { return floats(packed, step_at_); }         // of each column, zeros behind
  bool ordinary(const void* packed) const { return *floats(packed, head_at_) != 0; }       // steps are numbers that kernels can multiply

 private:
  const float* floats(const void* packed, std::int64_t bytes) const {
    return reinterpret_cast<const float*>(static_cast<const char*>(packed) + bytes);
  }
  std::int64_t place(std::int64_t k, std::int64_t n) const {
    const std::int64_t pair = k / 32 * 16 + k % 16;
    return n / kGroup * kGroup * depth_ + pair * group_panels(n / kGroup) * 32 + n % kGroup * 2 + k % 32 / 16;
  }

  std::int64_t k_, n_, depth_, balance_at_, step_at_, head_at_;
};

}  // namespace tenfold::backends::cpu
