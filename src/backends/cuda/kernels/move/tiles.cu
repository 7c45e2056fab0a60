// Copies between tensors whose innermost dims differ, by way of square tiles in shared memory: both sides in whole lines. A tile has a
// column more than it is wide: neither its rows nor its columns meet in one bank.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/move/tiles.cpp prints those of a problem
#define ELEMENT u16
#define WORD u32             // what a thread moves at once
#define VECTOR 2             // elements of a word
#define SIDE 64              // of a tile
#define THREADS 256
#endif

#include "backends/cuda/kernels/move/tiles_args.h"

using namespace tenfold::backends::cuda;

extern "C" __global__ void __launch_bounds__(THREADS) tiles(const TileArguments g) {
  enter();
  constexpr int kSide = SIDE, kStep = 32 * VECTOR, kRows = THREADS / 32, kBits = 8 * sizeof(ELEMENT);
  __shared__ ELEMENT tile[kSide][kSide + 1];
  i64 rest = blockIdx.x;
  const i64 b0 = rest % g.tiles_b * kSide;
  rest /= g.tiles_b;
  const i64 a0 = rest % g.tiles_a * kSide;
  rest /= g.tiles_a;
  const ELEMENT* from = (const ELEMENT*)g.from;
  ELEMENT* to = (ELEMENT*)g.to;
  for (int d = 0; d < (int)g.axes; ++d) {
    const i64 i = rest % g.extent[d];
    rest /= g.extent[d], from += i * g.from_stride[d], to += i * g.to_stride[d];
  }
  const int row = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (g.wide) {
    WORD words[kSide / kRows][kSide / kStep];   // all that a thread reads is under way at once
    #pragma unroll
    for (int r = 0; r < kSide; r += kRows)
      #pragma unroll
      for (int s = 0; s < kSide; s += kStep)
        if (const i64 b = b0 + s + lane * VECTOR; a0 + r + row < g.a && b < g.b)
          words[r / kRows][s / kStep] = *(const WORD*)(from + (a0 + r + row) * g.from_a + b);
    #pragma unroll
    for (int r = 0; r < kSide; r += kRows)
      #pragma unroll
      for (int s = 0; s < kSide; s += kStep)
        #pragma unroll
        for (int v = 0; v < VECTOR; ++v)
          tile[r + row][s + lane * VECTOR + v] = (ELEMENT)(words[r / kRows][s / kStep] >> (v * kBits % (8 * sizeof(WORD))));
  } else {
    for (int r = 0; r < kSide; r += kRows)
      for (int v = 0; v < kSide / 32; ++v)
        if (const i64 a = a0 + r + row, b = b0 + lane + 32 * v; a < g.a && b < g.b)
          tile[r + row][lane + 32 * v] = from[a * g.from_a + b * g.from_b];
  }
  __syncthreads();
  if (g.wide) {
    #pragma unroll
    for (int r = 0; r < kSide; r += kRows)
      #pragma unroll
      for (int s = 0; s < kSide; s += kStep)
        if (const i64 a = a0 + s + lane * VECTOR; b0 + r + row < g.b && a < g.a) {
          WORD word = 0;
          #pragma unroll
          for (int v = 0; v < VECTOR; ++v) word |= (WORD)tile[s + lane * VECTOR + v][r + row] << (v * kBits % (8 * sizeof(WORD)));
          *(WORD*)(to + (b0 + r + row) * g.to_b + a) = word;
        }
  } else {
    for (int r = 0; r < kSide; r += kRows)
      for (int v = 0; v < kSide / 32; ++v)
        if (const i64 a = a0 + lane + 32 * v, b = b0 + r + row; a < g.a && b < g.b)
          to[a * g.to_a + b * g.to_b] = tile[lane + 32 * v][r + row];
  }
}
