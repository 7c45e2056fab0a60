// What attention kernels on tensor cores share: rows come to shared memory, results leave registers. Fragments are those of mma.m16n8k16:
// thread t holds rows t/4 and t/4+8, columns 2(t%4) and the next, of every 8; those of mma.m16n8k8 for f32, rounded to tf32.
#pragma once
#include "backends/cuda/kernels/attention/row_share.cuh"
#include "backends/cuda/kernels/attention/sentences.cuh"
#include "backends/cuda/kernels/lib/cp_async.cuh"
#include "backends/cuda/kernels/lib/exp2.cuh"
#include "backends/cuda/kernels/lib/ldmatrix.cuh"
#include "backends/cuda/kernels/lib/mma.cuh"

constexpr int kPiece = 16 / sizeof(T);   // elements
// What a register of a fragment holds: two elements of 16 bits, or one of f32, rounded.
__device__ __forceinline__ u32 fragment(const T* from) {
#if TF32
  return to_tf32(__float_as_uint(*from));
#else
  return *(const u32*)from;
#endif
}
// One row of a warp's result: of each 8 columns the two that a thread holds.
template <bool ALIGNED, int BLOCKS_OF_8>
__device__ __forceinline__ void store_row(T* y, const float (&out)[BLOCKS_OF_8][4], int h, float scale) {
  #pragma unroll
  for (int n = 0; n < BLOCKS_OF_8; ++n) {
    const int column = n * 8 + threadIdx.x % 4 * 2;
#if TF32
    if (ALIGNED && column < REAL_VALUE) *(float2*)(y + column) = make_float2(out[n][2 * h] * scale, out[n][2 * h + 1] * scale);
#else
    if (ALIGNED && column < REAL_VALUE) *(u32*)(y + column) = pair(out[n][2 * h] * scale, out[n][2 * h + 1] * scale);
#endif
    if (ALIGNED) continue;
    if (column < REAL_VALUE) y[column] = STORE(out[n][2 * h] * scale);
    if (column + 1 < REAL_VALUE) y[column + 1] = STORE(out[n][2 * h + 1] * scale);
  }
}
// All rows of a warp's result; each thread has the sum of the weights of its own keys.
template <bool ALIGNED, int BLOCKS_OF_8>
__device__ __forceinline__ void store_rows(const Arguments& a, const Rows& rows, i64 head, i64 batch, int first,
                                           const float (&out)[BLOCKS_OF_8][4], const float (&sum)[2]) {
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float all = over_warp<Sum, 4>(sum[h]);
    const int row = first + threadIdx.x % 32 / 4 + 8 * h;
    if (row >= rows.queries) continue;
    store_row<ALIGNED>(a.y + batch * a.y_stride[0] + head * a.y_stride[1] + (rows.begin + row) * a.y_stride[2], out, h, share_of(all));
  }
}
// ROWS rows of REAL elements into rows of PITCH in shared memory, or `rows` if only these are wanted; rows past `count` and columns past
// `real` become zero.
template <int ROWS, int WIDTH, int PITCH, bool ALIGNED>
__device__ __forceinline__ void fetch(T* to, const T* from, i64 stride, int count, int real, int rows = ROWS) {
  constexpr int kRow = WIDTH / kPiece, kStep = 32 * WARPS / kRow;
  const int column = threadIdx.x % kRow * kPiece;
  int row = threadIdx.x / kRow;
  if (row >= kStep) return;   // threads that are left over
  const T* next = from + row * stride + column;
  if (ALIGNED && real == WIDTH && count >= ROWS) {   // nothing to ask about, and few instructions: they are what attention waits for
    #pragma unroll
    for (int i = 0; i < (ROWS + kStep - 1) / kStep; ++i, next += kStep * stride)
      if (ROWS % kStep == 0 || row + i * kStep < ROWS) cp_async_16(to + (row + i * kStep) * PITCH + column, next);
    return;
  }
  #pragma unroll 1
  for (; row < rows; row += kStep, next += kStep * stride) {
    T* place = to + row * PITCH + column;
    if (ALIGNED) {
      const bool there = row < count && column < real;
      cp_async_16(place, there ? next : from, there);
    } else {
      for (int v = 0; v < kPiece; ++v) place[v] = row < count && column + v < real ? next[v] : (T)0;
    }
  }
}
