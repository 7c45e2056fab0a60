// f32 weights as fixed point of 16 or 24 bits: each is an integer times a step of its column times what balances its row of k.
//
// What multiplies the weight is scaled by that: so a step is small beside the largest contributions to a sum, however different the units
// of its inputs are. A weight is off by half a step at most; a step is no less than 2^-126 beside a row's mean square. Inf and NaN have
// integers of their own. Nothing else is kept: rows that fixed point cannot hold are multiplied with what the integers stand for (so
// infinity times a weight below half a step is no number), and that is what a plan gives back to be tuned again.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tenfold::backends::cpu {

class FixedWeights {
 public:
  // Pairs: of 16 bits, [128 columns][pair of k][panel of 16 columns, those that exist][column][2]; a pair is 16 of k apart.
  // Tiles: of 24 bits, [32 columns][64 of k][byte, the highest first][16 columns][4 of k][column][4]; bytes are signed.
  enum class Order { pairs, tiles };
  static constexpr std::int64_t kGroup = 128, kPanel = 32, kStep = 64;   // columns of a group, of a panel of tiles; k of a tile

  FixedWeights(std::int64_t k, std::int64_t n, Order order);

  std::int64_t k() const { return k_; }
  std::int64_t depth() const { return depth_; }   // k, padded
  std::int64_t bytes() const { return head_at_ + 64; }
  void pack(const float* values, void* packed) const;   // k x n
  void unpack(const void* packed, float* values) const;
  // Weights of 32 columns at most in rows [first, last) of k: [row][32].
  void decode(const void* packed, std::int64_t first, std::int64_t last, std::int64_t column, double* to) const;

  // Where column `column` lies, which begins a group or panel.
  const char* columns(const void* packed, std::int64_t column) const {
    return static_cast<const char*>(packed) + column * depth_ * (order_ == Order::pairs ? 2 : 3);
  }
  std::int64_t group_panels(std::int64_t group) const { return std::min<std::int64_t>(kGroup / 16, (n_ + 15) / 16 - kGroup / 16 * group); }
  const float* balance(const void* packed) const { return at(packed, balance_at_); }   // of each k
  const float* step(const void* packed) const { return at(packed, step_at_); }         // of each column, zeros behind
  // False: weights hold Inf, NaN or extremes, which kernels cannot multiply.
  bool ordinary(const void* packed) const { return *at(packed, head_at_) != 0; }

 private:
  const float* at(const void* packed, std::int64_t bytes) const {
    return reinterpret_cast<const float*>(static_cast<const char*>(packed) + bytes);
  }
  std::int64_t place(std::int64_t k, std::int64_t n) const;   // of the four bytes that hold its integer, or the highest byte
  int read(const char* packed, std::int64_t k, std::int64_t n) const;
  bool measure(const float* values, float* balance, float* step) const;

  std::int64_t k_, n_;
  Order order_;
  int largest_;   // integer
  std::int64_t depth_, balance_at_, step_at_, head_at_;
};

}  // namespace tenfold::backends::cpu
