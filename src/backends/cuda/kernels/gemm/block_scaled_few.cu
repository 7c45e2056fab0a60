// Few rows times weights of 4 or 8 bits with a scale for each block of a column, with any epilogue, at the rate of memory. The warps of a
// block share the sum over k, tile by tile of weights in turn, which they read ahead and before the kernel in front has ended; then their
// sums meet in shared memory, where neighboring threads take neighboring columns. Rows may be normalized (NORM): each block takes their
// mean squares first, while weights are under way.
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
#define N 250
#define K 4096
#define BLOCK 32             // rows that share a scale
#define ROW_TILES 1          // of a block: eight rows each
#define PANELS 2             // of a block: 16 columns each
#define WARPS 8
#define NORM 1
#define EPSILON 1e-5f
#define NORM_SCALE u16
#define LOAD(x) from_f16(x)
#define LOAD_SCALE(x) from_f16(x)
#define WIDTH 1
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = to_f16(sum[v]);   // sum[WIDTH] at row m, column n
#endif

#ifndef ON_HOST   // where a test runs the kernel, and has its own of these
#define MMA_BITS 16
#include "backends/cuda/kernels/lib/mma.cuh"
#endif
#include "backends/cuda/kernels/gemm/block_scaled_args.h"

using namespace tenfold::backends::cuda;

#include "backends/cuda/kernels/gemm/block_scaled.cuh"

constexpr int kRun = common_divisor(kBlockSteps, kSteps), kRuns = kSteps / kRun;   // steps of a tile that surely share scales
constexpr int kRows = 8 * ROW_TILES, kColumns = 16 * PANELS, kPitch = kColumns + 4, kThreads = 32 * WARPS;
constexpr int kOfWarp = (kTilesAlong + WARPS - 1) / WARPS;   // tiles, of which so many are under way:
constexpr int kFit = 56 / (PANELS * (4 + 3 * kRuns)), kMaxAhead = kFit > 4 ? 4 : kFit < 1 ? 1 : kFit;
constexpr int kAhead = kMaxAhead < kOfWarp ? kMaxAhead : kOfWarp, kRounds = (kOfWarp + kAhead - 1) / kAhead;
constexpr bool kAllFull = kRounds * kAhead * WARPS == kTilesAlong;

// What a lane has of a tile of weights.
struct Tile {
  u32 words[4];
  float scale[kRuns][2];
  u8 zero[kRuns][2];
};
__device__ __forceinline__ void load(const BlockScaledArguments& a, int panel, int tile, Tile& to) {
  const int lane = threadIdx.x % 32;
  read<4>((const u32*)a.words + tile_at(panel, tile) + 4 * lane, to.words);
  #pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    const i64 at = scales_at(panel, tile * kSteps + r * kRun) + lane / 4 * 2;
    read<2>((const float*)a.scales + at, to.scale[r]);
#if ZEROS
    read<2>((const u8*)a.zeros + at, to.zero[r]);
#else
    to.zero[r][0] = to.zero[r][1] = ZERO;
#endif
  }
}
// Elements k to k + 3 of a row; V: how many are read at once.
template <int V> __device__ __forceinline__ void read_row(const IN* row, int k, Packed (&to)[kPacked]) {
  if constexpr (V == 4) {
    if (K % kTileRows == 0 || k < K) read<kPacked>((const Packed*)(row + k), to);
  } else {
    IN x[4] = {};
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      if (k + i < K) x[i] = row[k + i];
    #pragma unroll
    for (int i = 0; i < 4; i += 4 / kPacked) to[i * kPacked / 4] = F32 ? (Packed)x[i] : (Packed)((u32)x[i] | (u32)x[i + 1] << 16);
  }
}

#if NORM
// Each row's squares, by warp; a.m: rows beyond the last are not there.
template <int V> __device__ __forceinline__ void sum_squares(const BlockScaledArguments& a, i64 first_row, float (&room)[kRows][WARPS]) {
  const i64 left = a.m - first_row;
  for (int r = 0; r < (left < kRows ? (int)left : kRows); ++r) {
    const IN* const row = (const IN*)a.x + (first_row + r) * K;
    float sum = 0;
    for (int k = threadIdx.x * V; k < K; k += kThreads * V) {
      IN x[V];
      read<V>(row + k, x);
      #pragma unroll
      for (int v = 0; v < V; ++v) sum += LOAD(x[v]) * LOAD(x[v]);
    }
    sum = over_warp<Sum>(sum);
    if (threadIdx.x % 32 == 0) room[r][threadIdx.x / 32] = sum;
  }
  __syncthreads();
}
// Activations times `by` and the norm's scale, as the norm would store them. Elements beyond a row are 0, whatever they are multiplied by.
template <int V> __device__ __forceinline__ void normalize(Packed (&x)[kPacked], float by, const NORM_SCALE* scale, int k) {
  NORM_SCALE g[4] = {};
  if constexpr (V == 4) {
    if (K % kTileRows == 0 || k < K) read<4>(scale + k, g);
  } else {
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      if (k + i < K) g[i] = scale[k + i];
  }
#if F32
  #pragma unroll
  for (int i = 0; i < 4; ++i) x[i] *= by * LOAD_SCALE(g[i]);
#else
  #pragma unroll
  for (int i = 0; i < 2; ++i)
    x[i] = pair(LOAD((u16)x[i]) * by * LOAD_SCALE(g[2 * i]), LOAD((u16)(x[i] >> 16)) * by * LOAD_SCALE(g[2 * i + 1]));
#endif
}
#endif

template <int V> __device__ __forceinline__ void compute(const BlockScaledArguments& a) {
  __shared__ float room[WARPS][kRows][kPitch];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first_panel = blockIdx.x * PANELS;
  const i64 first_row = (i64)blockIdx.y * kRows;
  Tile ahead[kAhead][PANELS];
  const auto fetch = [&](int tile, Tile (&to)[PANELS]) {
    #pragma unroll
    for (int j = 0; j < PANELS; ++j)   // panels beyond the last are computed, and not written
      if (tile < kTilesAlong) load(a, min(first_panel + j, kPanels - 1), tile, to[j]);
  };
  #pragma unroll
  for (int i = 0; i < kAhead; ++i) fetch(warp + i * WARPS, ahead[i]);
  enter();   // weights do not depend on the kernel before

  const IN* rows[ROW_TILES];   // rows beyond the last are computed, and not written
#if NORM
  __shared__ float squares[kRows][WARPS];
  sum_squares<V>(a, first_row, squares);
  float inverse[ROW_TILES];
#endif
  #pragma unroll
  for (int r = 0; r < ROW_TILES; ++r) {
    const i64 wanted = first_row + r * 8 + lane / 4, row = wanted < a.m ? wanted : a.m - 1;
    rows[r] = (const IN*)a.x + row * K;
#if NORM
    float sum = 0;
    #pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += squares[row - first_row][w];
    inverse[r] = rsqrtf(sum * (1.f / K) + EPSILON);
#endif
  }
  const auto read_rows = [&](int tile, Packed (&x)[kSteps][ROW_TILES][kPacked]) {
    #pragma unroll
    for (int s = 0; s < kSteps; ++s)
      #pragma unroll
      for (int r = 0; r < ROW_TILES; ++r) {
        const int k = tile * kTileRows + s * 16 + lane % 4 * 4;
        read_row<V>(rows[r], k, x[s][r]);
#if NORM
        normalize<V>(x[s][r], inverse[r], (const NORM_SCALE*)a.norm, k);
#endif
      }
  };
  float total[PANELS][ROW_TILES][4] = {};
  const auto multiply = [&](const Tile (&w)[PANELS], const Packed (&x)[kSteps][ROW_TILES][kPacked]) {
    #pragma unroll
    for (int j = 0; j < PANELS; ++j)
      #pragma unroll
      for (int run = 0; run < kRuns; ++run) {
        const Zeros z = zeros_of(w[j].zero[run][0], w[j].zero[run][1]);
        float part[ROW_TILES][4] = {};
        #pragma unroll
        for (int s = run * kRun; s < (run + 1) * kRun; ++s) {
          u32 fragment[4];
          weights_of(w[j].words, s, z, fragment);
          #pragma unroll
          for (int r = 0; r < ROW_TILES; ++r) add_products(part[r], fragment, activations_of(x[s][r]));
        }
        #pragma unroll
        for (int r = 0; r < ROW_TILES; ++r) add_scaled(total[j][r], w[j].scale[run], part[r]);
      }
  };
  for (int round = 0; round < kRounds; ++round) {
    #pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int tile = (round * kAhead + i) * WARPS + warp;
      if (!kAllFull && tile >= kTilesAlong) continue;
      Packed x[kSteps][ROW_TILES][kPacked] = {};
      read_rows(tile, x);
      multiply(ahead[i], x);
      if (round + 1 < kRounds) fetch(tile + kAhead * WARPS, ahead[i]);
    }
  }

  #pragma unroll
  for (int j = 0; j < PANELS; ++j)
    #pragma unroll
    for (int r = 0; r < ROW_TILES; ++r)
      #pragma unroll
      for (int i = 0; i < 4; ++i) room[warp][r * 8 + lane % 4 * 2 + i % 2][j * 16 + lane / 4 + i / 2 * 8] = total[j][r][i];
  __syncthreads();
  for (int i = threadIdx.x; i < kRows * kColumns; i += kThreads) {
    const i64 m = first_row + i / kColumns;
    const int n = first_panel * 16 + i % kColumns;
    if (m >= a.m || n >= N) continue;
    float sum[WIDTH] = {};
    #pragma unroll
    for (int w = 0; w < WARPS; ++w) sum[0] += room[w][i / kColumns][i % kColumns];
    OUT y[WIDTH];
    EPILOGUE
    write<WIDTH>((OUT*)a.y + m * N + n, y);
  }
}
extern "C" __global__ void __launch_bounds__(kThreads) vectors(const BlockScaledArguments a) { compute<4>(a); }
extern "C" __global__ void __launch_bounds__(kThreads) singles(const BlockScaledArguments a) { compute<1>(a); }
