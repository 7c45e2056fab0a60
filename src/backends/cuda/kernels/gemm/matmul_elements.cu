// Matrix products, a thread for each element of the result; operands 2 and 3 are zero points.
#include "backends/cuda/kernels/lib/threads.cuh"

#ifndef CONFIGURED   // tactics/gemm/matmul_elements.cpp prints those of a problem
#define SUM float            // what is added up in
#endif

// A zero point: one for all, or one for each row or column.
template <int R, class T> __device__ __forceinline__ SUM zero_at(const Operand& o, i64 i) {
  return (SUM)((const T*)o.p)[R > 0 && o.d[0] > 1 ? i * o.s[0] : 0];
}
RULE(element) {
  // Vectors have one dim less than the result would have; batches are broadcast from the right.
  constexpr int kA = RANK0 < 2 ? 0 : RANK0 - 2, kB = RANK1 < 2 ? 0 : RANK1 - 2, kRow = RANK0 > 1, kColumn = RANK1 > 1;
  constexpr int kBatch = RANKY0 - kRow - kColumn;
  i64 at[8], left = 0, right = 0;
  places<RANKY0>(a.out[0], i, at);
  #pragma unroll
  for (int d = 0; d < kBatch; ++d) {
    const int l = d - (kBatch - kA), r = d - (kBatch - kB);
    if (l >= 0 && a.in[0].d[l] != 1) left += at[d] * a.in[0].s[l];
    if (r >= 0 && a.in[1].d[r] != 1) right += at[d] * a.in[1].s[r];
  }
  const i64 row = kRow ? at[kBatch] : 0, column = kColumn ? at[kBatch + kRow] : 0;
  if (kRow) left += row * a.in[0].s[kA];
  if (kColumn) right += column * a.in[1].s[kB + 1];
  const T0* x = (const T0*)a.in[0].p + left;
  const T1* w = (const T1*)a.in[1].p + right;
  SUM sum = 0, x_zero = 0, w_zero = 0;
#if OWN2
  x_zero = zero_at<RANK2, T2>(a.in[2], row);
#endif
#if OWN3
  w_zero = zero_at<RANK3, T3>(a.in[3], column);
#endif
  const i64 length = a.in[0].d[RANK0 - 1], x_step = a.in[0].s[RANK0 - 1], w_step = a.in[1].s[kB];
  #pragma unroll 4
  for (i64 k = 0; k < length; ++k) sum += ((SUM)LOAD0(x[k * x_step]) - x_zero) * ((SUM)LOAD1(w[k * w_step]) - w_zero);
  finish(a, at, sum);
}
