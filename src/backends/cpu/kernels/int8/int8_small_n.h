// Int8 products of few steps of k: weights stay in registers, and rows get their epilogue before their sums leave them.
#pragma once

#include "backends/cpu/kernels/int8/int8.h"

namespace tenfold::backends::cpu {

inline constexpr std::int64_t kInt8SmallNGroups = 8;   // of 4 values of k

struct Int8SmallN {
  const char* a;                        // unsigned
  std::int64_t a_stride, rows, groups;
  const char* b;                        // panels of 32 columns, as Int8Kernels::panel has them, one behind the other
  std::int64_t columns;                 // whole panels
  const std::int32_t* init;
  const Int8EpilogueArgs* epilogue;     // of the first column: bytes without a residual, as Int8Epilogue::plain_bytes() has them
  char* out;
  std::int64_t out_stride;
};
using Int8SmallNFunction = void (*)(const Int8SmallN&);

extern "C" {
extern const Int8SmallNFunction tenfold_int8_small_n_vnni;
}

}  // namespace tenfold::backends::cpu
