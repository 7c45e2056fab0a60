// Weights of 8 bits times a step of their column, as Q/DQ has them, in the order of FixedWeights::Order::pairs with a byte for each.
#pragma once

#include "backends/cpu/gemm/weights/scaled_columns.h"

namespace tenfold::backends::cpu {

class ByteWeights : public ScaledColumns {   // which are balanced by 1
 public:
  ByteWeights(std::int64_t k, std::int64_t n) : ScaledColumns(k, n, round_up(k, 32), round_up(n, 16) * round_up(k, 32)) {}

  void pack(const std::int8_t* values, const float* steps, void* packed) const;   // k x n, n
  std::int8_t at(const void* packed, std::int64_t k, std::int64_t n) const { return static_cast<const std::int8_t*>(packed)[place(k, n)]; }
  // What stands for weights of kPanel columns, from a multiple of 16 on, in rows [first, last) of k: [row][kPanel].
  void decode(const void* packed, std::int64_t first, std::int64_t last, std::int64_t column, double* to) const;

  // Where column `column` lies, which begins a group.
  const char* columns(const void* packed, std::int64_t column) const { return static_cast<const char*>(packed) + column * depth_; }

 private:
  std::int64_t place(std::int64_t k, std::int64_t n) const { return pair_at(k, n) + k % 32 / 16; }
};

}  // namespace tenfold::backends::cpu
