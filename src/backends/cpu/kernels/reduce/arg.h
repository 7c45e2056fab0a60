// Kernels of ArgMax and ArgMin: the index of an extreme element, in lanes that are columns or rows of a matrix.
//
// The first NaN counts as beyond all numbers. Of equal elements the first is chosen, or the last.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

inline constexpr std::int64_t kMinArgRow = 16;

struct ArgKernels {
  // to[c] = the index r of the extreme x[r * stride + c], r < extent; extent is 1 to 2^31 - 1. [largest][last of equals]
  void (*columns[2][2])(std::int64_t* to, const float* x, std::int64_t stride, std::int64_t extent, std::int64_t count);
  // to[i] = the index c of the extreme x[i * stride + c], c < extent; extent is kMinArgRow at least.
  void (*rows[2][2])(std::int64_t* to, const float* x, std::int64_t stride, std::int64_t extent, std::int64_t count);
};

extern "C" {
extern const ArgKernels tenfold_arg_avx2, tenfold_arg_avx512;
}

}  // namespace tenfold::backends::cpu
