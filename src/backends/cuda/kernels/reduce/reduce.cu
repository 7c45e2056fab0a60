// Reductions over some axes. Where the reduced elements lie side by side: a warp for each result (rows), or a block for many short rows
// that lie one behind the other (packed_rows): rows that begin at any element come through shared memory, and there they are read by as
// many lanes each as make up a block. Elsewhere a block for 32 results (columns), or for some vectors of them (column_vectors).
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/reduce/reduce.cpp prints those of a problem
#define IN u16
#define OUT u16
#define ROWS 4               // warps of `rows`
#define LANES 16             // rows of threads of `columns`
#define THREADS 256          // of `packed_rows` and `column_vectors`
#define ROOM 16384           // bytes that the rows of `packed_rows` take
#define LOAD(e) from_f16(e)
#define STORE(f) to_f16(f)
#define OP Sum
#define START 0.f
#define MAP e                // of an element e
#define FINISH r             // of a result r of `length` elements
#endif

#include "backends/cuda/kernels/reduce/reduce_args.h"

using namespace tenfold::backends::cuda;

constexpr int kAxes = kReduceAxes;
// Axes are joined as far as possible, so mostly there is one; the outermost needs no remainder.
__device__ __forceinline__ i64 place(i64 i, int axes, const i64* extents, const i64* strides) {
  i64 at = 0;
  for (int a = kAxes - 1; a > kAxes - axes; --a) {
    const u32 e = (u32)extents[a];
    at += (i64)((u32)i % e) * strides[a];
    i = (u32)i / e;
  }
  return axes > 0 ? at + i * strides[kAxes - axes] : 0;
}
constexpr int kVector = 16 / sizeof(IN), kAhead = 4;   // elements read at once, and reads that a thread has under way
struct alignas(16) Piece { IN elements[kVector]; };
__device__ __forceinline__ float element(IN x) { const float e = LOAD(x); return MAP; }
__device__ __forceinline__ void finish(OUT* y, float r, i64 length) { const float f = FINISH; *y = STORE(f); }
extern "C" __global__ void __launch_bounds__(32 * ROWS) rows(ReduceArguments a) {
  enter();
  const i64 i = (i64)blockIdx.x * ROWS + threadIdx.x / 32;
  if (i >= a.results) return;
  const IN* x = (const IN*)a.x + place(i, (int)a.kept_axes, a.kept, a.x_kept);
  float r = START;
  if (a.wide) {   // the row lies together: 16 bytes at once
    const int length = (int)a.length;
    for (int k = threadIdx.x % 32 * kVector; k < length; k += kAhead * 32 * kVector) {
      Piece pieces[kAhead];
      #pragma unroll
      for (int b = 0; b < kAhead; ++b)
        if (k + b * 32 * kVector < length) pieces[b] = *(const Piece*)(x + k + b * 32 * kVector);
      #pragma unroll
      for (int b = 0; b < kAhead; ++b)
        #pragma unroll
        for (int v = 0; v < kVector && k + b * 32 * kVector < length; ++v) r = OP::apply(r, element(pieces[b].elements[v]));
    }
  } else {
    for (i64 k = threadIdx.x % 32; k < a.length; k += 32)
      r = OP::apply(r, element(x[place(k, (int)a.reduced_axes, a.reduced, a.x_reduced)]));
  }
  r = over_warp<OP>(r);
  if (threadIdx.x % 32 == 0) finish((OUT*)a.y + place(i, (int)a.kept_axes, a.kept, a.y_kept), r, a.length);
}
extern "C" __global__ void __launch_bounds__(32 * LANES) columns(ReduceArguments a) {
  enter();
  __shared__ float room[LANES][33];
  const int column = threadIdx.x % 32, lane = threadIdx.x / 32;
  const i64 i = (i64)blockIdx.x * 32 + column;
  float r = START;
  if (i < a.results) {
    const IN* x = (const IN*)a.x + place(i, (int)a.kept_axes, a.kept, a.x_kept);
    for (i64 k = lane; k < a.length; k += LANES) r = OP::apply(r, element(x[place(k, (int)a.reduced_axes, a.reduced, a.x_reduced)]));
  }
  room[lane][column] = r;
  __syncthreads();
  if (lane > 0 || i >= a.results) return;
  for (int l = 1; l < LANES; ++l) r = OP::apply(r, room[l][column]);
  finish((OUT*)a.y + place(i, (int)a.kept_axes, a.kept, a.y_kept), r, a.length);
}

extern "C" __global__ void __launch_bounds__(THREADS) packed_rows(ReduceArguments a) {
  enter();
  __shared__ Piece pieces[ROOM / 16];
  const int length = (int)a.length, across = (int)a.across;
  const i64 first = (i64)blockIdx.x * across;
  const int rows = (int)min((i64)across, a.results - first), elements = rows * length;
  const IN* x = (const IN*)a.x + first * length;
  const int whole = elements / kVector;
  #pragma unroll 4
  for (int p = threadIdx.x; p < whole; p += THREADS) pieces[p] = ((const Piece*)x)[p];
  IN* room = (IN*)pieces;
  for (int e = whole * kVector + threadIdx.x; e < elements; e += THREADS) room[e] = x[e];
  __syncthreads();
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * across <= THREADS) lanes *= 2;
  const int lane = threadIdx.x % lanes;
  for (int base = 0; base < rows; base += THREADS / lanes) {
    const int row = base + threadIdx.x / lanes;
    float r = START;
    for (int k = lane; k < length && row < rows; k += lanes) r = OP::apply(r, element(room[row * length + k]));
    for (int d = lanes / 2; d > 0; d /= 2) r = OP::apply(r, __shfl_xor_sync(0xffffffffu, r, d));
    if (row < rows && lane == 0) finish((OUT*)a.y + place(first + row, (int)a.kept_axes, a.kept, a.y_kept), r, a.length);
  }
}
extern "C" __global__ void __launch_bounds__(THREADS) column_vectors(ReduceArguments a) {
  enter();
  __shared__ float room[THREADS / 32][32 * kVector];
  const int across = (int)a.across, lanes = THREADS / across, column = threadIdx.x % across, length = (int)a.length;
  const i64 i = ((i64)blockIdx.x * across + column) * kVector;
  float r[kVector];
  #pragma unroll
  for (int v = 0; v < kVector; ++v) r[v] = START;
  if (i < a.results) {
    const IN* x = (const IN*)a.x + place(i, (int)a.kept_axes, a.kept, a.x_kept);
    for (int k = threadIdx.x / across; k < length; k += kAhead * lanes) {
      Piece pieces[kAhead];
      #pragma unroll
      for (int b = 0; b < kAhead; ++b)
        if (k + b * lanes < length) pieces[b] = *(const Piece*)(x + place(k + b * lanes, (int)a.reduced_axes, a.reduced, a.x_reduced));
      #pragma unroll
      for (int b = 0; b < kAhead; ++b)
        #pragma unroll
        for (int v = 0; v < kVector && k + b * lanes < length; ++v) r[v] = OP::apply(r[v], element(pieces[b].elements[v]));
    }
  }
  for (int d = 16; d >= across; d /= 2)
    #pragma unroll
    for (int v = 0; v < kVector; ++v) r[v] = OP::apply(r[v], __shfl_xor_sync(0xffffffffu, r[v], d));
  #pragma unroll
  for (int v = 0; v < kVector; ++v)
    if (threadIdx.x % 32 < across) room[threadIdx.x / 32][v * across + column] = r[v];
  __syncthreads();
  for (int e = threadIdx.x; e < across * kVector; e += THREADS) {
    float sum = room[0][e];
    #pragma unroll
    for (int w = 1; w < THREADS / 32; ++w) sum = OP::apply(sum, room[w][e]);
    const i64 result = ((i64)blockIdx.x * across + e % across) * kVector + e / across;
    if (result < a.results) finish((OUT*)a.y + place(result, (int)a.kept_axes, a.kept, a.y_kept), sum, a.length);
  }
}
