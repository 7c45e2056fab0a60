// Kernels of running sums: a row of elements beside the sums so far.
#pragma once

#include <cstdint>

namespace tenfold::backends::cpu {

struct RunningKernels {
  // sums[c] += x[c]; to[c] is that, or what it was before. Sums are doubles, rounded where they are written.
  void (*sum_row)(float* to, const float* x, double* sums, std::int64_t count, bool exclusive);
};

extern "C" {
extern const RunningKernels tenfold_running_avx2, tenfold_running_avx512;
}

}  // namespace tenfold::backends::cpu
