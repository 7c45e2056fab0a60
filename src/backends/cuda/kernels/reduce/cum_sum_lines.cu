// CumSum and CumProd: a warp for each line (warps), or a thread where lines lie side by side (threads).
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/reduce/cum_sum_lines.cpp prints those of a problem
#define ELEMENT u16
#define SUM float
#define START 0
#define JOIN(a, b) ((a) + (b))
#define LOAD(x) from_f16(x)
#define STORE(x) to_f16(x)
#define EXCLUSIVE false
#define REVERSE false
#define THREADS 128
#endif

#include "backends/cuda/kernels/reduce/cum_sum_args.h"

using namespace tenfold::backends::cuda;

__device__ __forceinline__ i64 place(const CumSumArgumentsOf<ELEMENT>& a, i64 line, i64 e) {
  return (line / a.inner * a.extent + (REVERSE ? a.extent - 1 - e : e)) * a.inner + line % a.inner;
}
extern "C" __global__ void __launch_bounds__(THREADS) warps(const CumSumArgumentsOf<ELEMENT> a) {
  enter();
  const int lane = threadIdx.x % 32;
  const i64 line = (i64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
  if (line >= a.lines) return;
  SUM before = START;
  for (i64 start = 0; start < a.extent; start += 32) {
    const bool there = start + lane < a.extent;
    const i64 at = place(a, line, start + lane);
    SUM sum = there ? (SUM)LOAD(a.x[at]) : (SUM)START;
    #pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const SUM left = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum = JOIN(left, sum);
    }
    const SUM left = __shfl_up_sync(0xffffffffu, sum, 1), all = __shfl_sync(0xffffffffu, sum, 31);
    const SUM own = !EXCLUSIVE ? sum : lane > 0 ? left : (SUM)START;
    const SUM r = JOIN(before, own);
    if (there) a.y[at] = STORE(r);
    before = JOIN(before, all);
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) threads(const CumSumArgumentsOf<ELEMENT> a) {
  enter();
  const i64 line = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (line >= a.lines) return;
  SUM sum = START;
  for (i64 e = 0; e < a.extent; ++e) {
    const i64 at = place(a, line, e);
    const SUM before = sum;
    sum = JOIN(sum, (SUM)LOAD(a.x[at]));
    const SUM r = EXCLUSIVE ? before : sum;
    a.y[at] = STORE(r);
  }
}
