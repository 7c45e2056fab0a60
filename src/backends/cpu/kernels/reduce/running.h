// Kernels of running sums along an axis.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct RunningKernels {
  // to[e * step + c] = the sum of x[k * step + c] over k up to e, or below e where it is exclusive, for
  // `extent` rows of `count` columns. Sums are doubles, rounded where they are written.
  void (*sum_columns)(float* to, const float* x, std::int64_t step, std::int64_t extent, std::int64_t count, bool exclusive);
};

extern "C" {
extern const RunningKernels tenfold_running_avx2, tenfold_running_avx512;
}

}  // namespace tenfold::backends::cpu
