// f32 weights as fixed point of 16 or 24 bits: each is an integer times a step of its column times what balances its row of k.
//
// What multiplies the weight is scaled by that: so a step is small beside the largest contributions to a sum, however different the units
// of its inputs are. A weight is off by half a step at most; a step is no less than 2^-126 beside a row's mean square. Inf and NaN have
// integers of their own. Nothing else is kept: rows that fixed point cannot hold are multiplied with what the integers stand for (so
// infinity times a weight below half a step is no number), and that is what a plan gives back to be tuned again.
#pragma once

#include "backends/cpu/gemm/weights/scaled_columns.h"

namespace tenfold::backends::cpu {

class FixedWeights : public ScaledColumns {
 public:
  // Pairs: of 16 bits, in the order of ScaledColumns::pair_at.
  // Tiles: of 24 bits, [32 columns][64 of k][byte, the highest first][16 columns][4 of k][column][4]; bytes are signed.
  enum class Order { pairs, tiles };
  static constexpr std::int64_t kStep = 64;   // of k, of a tile; a panel of tiles has kPanel columns

  FixedWeights(std::int64_t k, std::int64_t n, Order order);

  void pack(const float* values, void* packed) const;   // k x n
  void unpack(const void* packed, float* values) const;
  // Weights of 32 columns, from a multiple of 16 on, in rows [first, last) of k: [row][32], zeros behind the last column.
  void decode(const void* packed, std::int64_t first, std::int64_t last, std::int64_t column, double* to) const;

  // Where column `column` lies, which begins a group or panel.
  const char* columns(const void* packed, std::int64_t column) const {
    return static_cast<const char*>(packed) + column * depth_ * (order_ == Order::pairs ? 2 : 3);
  }

 private:
  std::int64_t place(std::int64_t k, std::int64_t n) const;   // of the four bytes that hold its integer, or the highest byte
  bool measure(const float* values, float* balance, float* step) const;

  Order order_;
  int largest_;   // integer
};

}  // namespace tenfold::backends::cpu
