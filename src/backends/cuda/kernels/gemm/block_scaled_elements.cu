// Rows times weights of 4 or 8 bits with a scale for each block of a column, with any epilogue, on plain cores: a thread for each result,
// whose products are those of f32. For what tensor cores do not take: f32 that may not be rounded, and GPUs before sm_80.
#ifndef ON_HOST
#include "backends/cuda/kernels/lib/prelude.cuh"
#endif

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/block_scaled.cpp prints those of a problem
#define IN float
#define OUT float
#define LOAD(x) x
#define BITS 4
#define ZEROS 1              // zero points are given
#define ZERO 8               // otherwise: of all
#define N 250
#define K 4096
#define BLOCK 32             // rows of weights that share a scale
#define THREADS 64
#define WIDTH 1
#define EPILOGUE y[0] = sum[0];   // sum[1] at row m, column n
#endif

#include "backends/cuda/kernels/gemm/block_scaled_args.h"

using namespace tenfold::backends::cuda;

constexpr int kTileRows = 256 / BITS, kTilesAlong = (K + kTileRows - 1) / kTileRows, kBlocks = (K + BLOCK - 1) / BLOCK;

extern "C" __global__ void __launch_bounds__(THREADS) elements(const BlockScaledArguments a) {
  enter();
  constexpr int kAcross = (N + THREADS - 1) / THREADS;
  const int n = (int)(blockIdx.x % kAcross) * THREADS + threadIdx.x, panel = n / 16;
  const i64 m = blockIdx.x / kAcross;
  if (n >= N || m >= a.m) return;
  const IN* const x = (const IN*)a.x + m * K;
  const u32* const words = (const u32*)a.words + (i64)panel * kTilesAlong * 128;
  float sum[WIDTH] = {};
  for (int block = 0; block < kBlocks; ++block) {
    const i64 at = ((i64)panel * kBlocks + block) * 16 + block_scaled_column(n % 16);
#if ZEROS
    const int zero = ((const u8*)a.zeros)[at];
#else
    constexpr int zero = ZERO;
#endif
    const int end = min((block + 1) * BLOCK, K);
    float part = 0;
    #pragma unroll 4
    for (int k = block * BLOCK; k < end; ++k) {
      const BlockScaledPlace place = block_scaled_place(BITS, n % 16, k % kTileRows);
      const int q = words[(i64)(k / kTileRows) * 128 + place.word] >> place.shift & ((1 << BITS) - 1);
      part += LOAD(x[k]) * (float)(q - zero);
    }
    sum[0] += ((const float*)a.scales)[at] * part;
  }
  OUT y[WIDTH];
  EPILOGUE
  write<WIDTH>((OUT*)a.y + m * N + n, y);
}
