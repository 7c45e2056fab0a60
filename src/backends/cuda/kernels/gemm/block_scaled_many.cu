// Many rows times weights of 4 or 8 bits with a scale for each block of a column, with any epilogue. Rows, weights and scales come to
// shared memory through a pipeline of STAGES stages (cp.async), 64 elements of k at a time; each warp has columns of its own, whose
// weights it alone makes numbers of, and all rows of the block.
//
//   shared memory: stage 0: rows, kRowPitch bytes each | weights, 512 bytes a tile | scales, 64 a panel and run | zero points, 16
//                  | stage 1 | ..      afterwards: sums, kRows x kPitch
//   A row's 64 elements and 16 more: then the 16 lanes, or 8 in f32, that read at once meet different banks.
#ifndef ON_HOST
#include "backends/cuda/kernels/lib/prelude.cuh"
#endif

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/block_scaled.cpp prints those of a problem
#define IN u16
#define OUT u16
#define BF16 0
#define F32 0
#define BITS 4
#define ZEROS 1              // zero points are given
#define ZERO 8               // otherwise: of all
#define N 256
#define K 4096
#define BLOCK 32             // rows of weights that share a scale
#define ROW_TILES 8          // of a block: eight rows each
#define PANELS 2             // of a warp: 16 columns each
#define WARPS 4
#define STAGES 4
#define VECTORS 1            // rows of x and y lie at multiples of 16 bytes
#define WIDTH 8              // results that a thread finishes at once
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = to_f16(sum[v]);   // sum[WIDTH] at row m, column n
#endif

#ifndef ON_HOST   // where a test runs the kernel, and has its own of these
#define MMA_BITS 16
#include "backends/cuda/kernels/lib/cp_async.cuh"
#include "backends/cuda/kernels/lib/mma.cuh"
#endif
#include "backends/cuda/kernels/gemm/block_scaled_args.h"

using namespace tenfold::backends::cuda;

#include "backends/cuda/kernels/gemm/block_scaled.cuh"

constexpr int kDepth = 64, kStageTiles = 4 / kSteps, kStages = (K + kDepth - 1) / kDepth;
constexpr int kRun = common_divisor(kBlockSteps, 4), kRuns = 4 / kRun;   // steps of a stage that surely share scales
constexpr int kRows = 8 * ROW_TILES, kBlockPanels = WARPS * PANELS, kColumns = 16 * kBlockPanels, kPitch = kColumns + 4;
constexpr int kAcross = (kPanels + kBlockPanels - 1) / kBlockPanels;   // blocks
constexpr int kThreads = 32 * WARPS, kPiece = 16 / sizeof(IN), kRowPieces = kDepth / kPiece, kRowPitch = (kDepth + 16) * sizeof(IN);
constexpr int kWordsAt = kRows * kRowPitch, kScalesAt = kWordsAt + kBlockPanels * kStageTiles * 512;
constexpr int kZerosAt = kScalesAt + kBlockPanels * kRuns * 64, kStageBytes = kZerosAt + (ZEROS ? kBlockPanels * kRuns * 16 : 0);

// each(i): for all of COUNT pieces, each by one thread.
template <int COUNT, class F> __device__ __forceinline__ void each_piece(F each) {
  #pragma unroll
  for (int first = 0; first < COUNT; first += kThreads) {
    const int i = first + (int)threadIdx.x;
    if (COUNT % kThreads == 0 || i < COUNT) each(i);
  }
}

__device__ __forceinline__ void load(const BlockScaledArguments& a, int stage, u8* to, i64 first_row, int first_panel) {
  each_piece<kRows * kRowPieces>([&](int i) {
    const i64 row = first_row + i / kRowPieces;
    const int k = stage * kDepth + i % kRowPieces * kPiece;
    IN* const there = (IN*)(to + i / kRowPieces * kRowPitch) + i % kRowPieces * kPiece;
    const IN* const from = (const IN*)a.x + row * K + k;
#if VECTORS
    const bool given = row < a.m && k < K;
    cp_async_16(there, given ? from : (const IN*)a.x, given);
#else
    IN x[kPiece];
    #pragma unroll
    for (int e = 0; e < kPiece; ++e) x[e] = row < a.m && k + e < K ? from[e] : (IN)0;
    write<kPiece>(there, x);
#endif
  });
  each_piece<kBlockPanels * kStageTiles * 32>([&](int i) {
    const int panel = first_panel + i / (kStageTiles * 32), tile = stage * kStageTiles + i / 32 % kStageTiles;
    const bool given = panel < kPanels && tile < kTilesAlong;
    cp_async_16(to + kWordsAt + i * 16, (const u32*)a.words + (given ? tile_at(panel, tile) + i % 32 * 4 : 0), given);
  });
  each_piece<kBlockPanels * kRuns * 4>([&](int i) {
    const int panel = first_panel + i / (kRuns * 4), step = stage * 4 + i / 4 % kRuns * kRun;
    const bool given = panel < kPanels;
    cp_async_16(to + kScalesAt + i * 16, (const float*)a.scales + (given ? scales_at(panel, step) + i % 4 * 4 : 0), given);
  });
#if ZEROS
  each_piece<kBlockPanels * kRuns>([&](int i) {
    const int panel = first_panel + i / kRuns, step = stage * 4 + i % kRuns * kRun;
    const bool given = panel < kPanels;
    cp_async_16(to + kZerosAt + i * 16, (const u8*)a.zeros + (given ? scales_at(panel, step) : 0), given);
  });
#endif
}

__device__ __forceinline__ void add_stage(const u8* from, float (&total)[PANELS][ROW_TILES][4]) {
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32 * PANELS;
  #pragma unroll
  for (int run = 0; run < kRuns; ++run) {
    float part[PANELS][ROW_TILES][4] = {};
    Zeros zeros[PANELS];
    #pragma unroll
    for (int j = 0; j < PANELS; ++j) {
#if ZEROS
      u8 z[2];
      read<2>(from + kZerosAt + ((own + j) * kRuns + run) * 16 + lane / 4 * 2, z);
      zeros[j] = zeros_of(z[0], z[1]);
#else
      zeros[j] = zeros_of(ZERO, ZERO);
#endif
    }
    #pragma unroll
    for (int s = run * kRun; s < (run + 1) * kRun; ++s) {
      Activations x[ROW_TILES];
      #pragma unroll
      for (int r = 0; r < ROW_TILES; ++r) {
        Packed four[kPacked];
        read<kPacked>((const Packed*)(from + (r * 8 + lane / 4) * kRowPitch) + (s * 4 + lane % 4) * kPacked, four);
        x[r] = activations_of(four);
      }
      #pragma unroll
      for (int j = 0; j < PANELS; ++j) {
        u32 words[4], fragment[4];
        read<4>((const u32*)(from + kWordsAt + ((own + j) * kStageTiles + s / kSteps) * 512) + 4 * lane, words);
        weights_of(words, s % kSteps, zeros[j], fragment);
        #pragma unroll
        for (int r = 0; r < ROW_TILES; ++r) add_products(part[j][r], fragment, x[r]);
      }
    }
    #pragma unroll
    for (int j = 0; j < PANELS; ++j) {
      float scale[2];
      read<2>((const float*)(from + kScalesAt + ((own + j) * kRuns + run) * 64) + lane / 4 * 2, scale);
      #pragma unroll
      for (int r = 0; r < ROW_TILES; ++r) add_scaled(total[j][r], scale, part[j][r]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1) many(const BlockScaledArguments a) {
  extern __shared__ __align__(128) u8 shared[];
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32 * PANELS, first_panel = (int)(blockIdx.x % kAcross) * kBlockPanels;
  const i64 first_row = (i64)(blockIdx.x / kAcross) * kRows;
  enter();
  #pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < kStages) load(a, s, shared + s * kStageBytes, first_row, first_panel);
    cp_async_commit_group();
  }
  float total[PANELS][ROW_TILES][4] = {};
  for (int s = 0; s < kStages; ++s) {
    cp_async_wait_group<STAGES - 2>();
    __syncthreads();
    const int next = s + STAGES - 1;
    if (next < kStages) load(a, next, shared + next % STAGES * kStageBytes, first_row, first_panel);
    cp_async_commit_group();
    add_stage(shared + s % STAGES * kStageBytes, total);
  }
  cp_async_wait_group<0>();
  __syncthreads();

  // Sums pass through shared memory, so that the epilogue reads and writes whole rows.
  float* const sums = (float*)shared;
  #pragma unroll
  for (int j = 0; j < PANELS; ++j)
    #pragma unroll
    for (int r = 0; r < ROW_TILES; ++r)
      #pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[(r * 8 + lane % 4 * 2 + i % 2) * kPitch + (own + j) * 16 + lane / 4 + i / 2 * 8] = total[j][r][i];
  __syncthreads();
  each_piece<kRows * kColumns / WIDTH>([&](int i) {
    const int row = i / (kColumns / WIDTH), column = i % (kColumns / WIDTH) * WIDTH, n = first_panel * 16 + column;
    const i64 m = first_row + row;
    if (m >= a.m || n >= N) return;
    float sum[WIDTH];
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) sum[v] = sums[row * kPitch + column + v];
    OUT y[WIDTH];
    EPILOGUE
    write<WIDTH>((OUT*)a.y + m * N + n, y);
  });
}
