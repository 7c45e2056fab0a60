// Products and convolutions on tensor cores (mma.sync), with any epilogue: y[m, n] = epilogue(sum over k of a[m, k] * b[n, k]). Tiles come
// to shared memory through a pipeline of STAGES stages (cp.async), fragments by ldmatrix, and the epilogue is computed over finished rows.
//
//   shared memory: stage 0: a ROWS x 128 bytes, b COLUMNS x 128 | stage 1 | .. | STAGES - 1      afterwards: sums, ROWS x kPitch
//   The eight pieces of 16 bytes of a tile's row are permuted (place_of), so that no banks collide.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm.cpp prints those of a problem
#define OUT u16              // a result in memory
#define ELEMENT u16          // of a and b, by size
#define SUM float            // float or int
#define SUM_REGISTER(x) "=f"(x)
#define MMA_BITS 16          // of an element
#define MMA_E4M3 0
#define MMA_TYPES "s8.s8"
#define BF16 0
#define TF32 0               // f32 is rounded to tf32 on its way
#define PADDED 0             // pads of a convolution are PAD, not zero
#define PAD 0
#define N 256
#define K 256
#define ROWS 64              // of a block
#define COLUMNS 64
#define WARPS_DOWN 2
#define WARPS_ACROSS 2
#define STAGES 4
#define SPLIT 1              // blocks of a cluster that share the sum over k
#define CLUSTER              // __cluster_dims__(1, 1, SPLIT) above 1
#define VECTORS 1            // rows of a, b and y lie at multiples of 16 bytes
#define WIDTH 8              // results that a thread finishes at once
#define WEIGHT_AT(n, k) ((i64)(n) * K + (k))
#define SPREADS 0            // a transposed convolution whose windows tile its result, whose channels are RESULT
#define RESULT 256
#define PITCH 256            // from one row of the result to the next
#define GROUPS 1             // of channels
#define PHASES 1             // of a transposed convolution (gemm.h)
#define RESULT_ROW(m) (m)
#define ROW_KIND 0           // gemm_rows.cuh
#define ROW_LIST Row(a, part, first_row + threadIdx.x / 8 + 0), Row(a, part, first_row + threadIdx.x / 8 + 16), \
                 Row(a, part, first_row + threadIdx.x / 8 + 32), Row(a, part, first_row + threadIdx.x / 8 + 48)
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = to_f16(sum[v]);   // sum[WIDTH] at row m, column n
#endif

#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/cp_async.cuh"
#include "backends/cuda/kernels/lib/ldmatrix.cuh"
#include "backends/cuda/kernels/lib/mma.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/gemm/gemm_args.h"

using namespace tenfold::backends::cuda;

constexpr int kPiece = 16 / sizeof(ELEMENT), kDepth = 8 * kPiece;   // elements of 16 bytes, and of a tile's row
constexpr int kThreads = 32 * WARPS_DOWN * WARPS_ACROSS, kAcross = (N + COLUMNS - 1) / COLUMNS;
constexpr int kWarpRows = ROWS / WARPS_DOWN, kWarpColumns = COLUMNS / WARPS_ACROSS, kMi = kWarpRows / 16, kNi = kWarpColumns / 8;
constexpr int kStageBytes = (ROWS + COLUMNS) * 128, kPitch = COLUMNS + 4;

// A fragment, rounded to tf32 where it is of f32.
__device__ __forceinline__ void load_fragment(u32 (&r)[4], u32 address) {
  ldmatrix_x4(r, address);
#if TF32
  #pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = to_tf32(r[i]);
#endif
}
// Elements one by one, for rows that do not lie at multiples of 16 bytes; get(i) gives element i of 16 bytes.
template <class F> __device__ __forceinline__ void place_each(u32 to, F get) {
  u32 x[4] = {};
  #pragma unroll
  for (int i = 0; i < kPiece; ++i) x[i * sizeof(ELEMENT) / 4] |= (u32)get(i) << 8 * (i * sizeof(ELEMENT) % 4);
  st_shared_16(to, make_uint4(x[0], x[1], x[2], x[3]));
}
__device__ __forceinline__ u32 place_of(int row, int piece) { return row * 128 + ((piece ^ row & 7) << 4); }

#include "backends/cuda/kernels/gemm/gemm_rows.cuh"

// With room for one block wanted: otherwise the compiler saves registers and reads fragments late.
extern "C" __global__ void CLUSTER __launch_bounds__(kThreads, 1) gemm(const GemmArguments a) {
  enter();
  extern __shared__ __align__(128) u8 shared[];
  const u32 base = smem_address(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, piece = threadIdx.x % 8;
  const int first_column = blockIdx.x % kAcross * COLUMNS, parts = PHASES * GROUPS;
  const Part part(blockIdx.x / kAcross % parts);
  const i64 first_row = (i64)(blockIdx.x / kAcross / parts) * ROWS;
  constexpr int kRowStep = kThreads / 8, kARows = (ROWS + kRowStep - 1) / kRowStep, kBRows = (COLUMNS + kRowStep - 1) / kRowStep;
  const int tiles = (part.terms + kDepth - 1) / kDepth;
  const int begin = (int)((i64)tiles * blockIdx.z / SPLIT), end = (int)((i64)tiles * (blockIdx.z + 1) / SPLIT);
  const ELEMENT* weights = (const ELEMENT*)a.b + (i64)part.weights() * ((i64)N * K);

  Row rows[kARows] = {ROW_LIST};
  const ELEMENT pad = PAD;
  const auto load = [&](int tile) {
    const u32 stage = base + tile % STAGES * kStageBytes;
    const int k = tile * kDepth + piece * kPiece;
    #pragma unroll
    for (int i = 0; i < kARows; ++i) {
      const int r = threadIdx.x / 8 + i * kRowStep;
      if (ROWS % kRowStep != 0 && r >= ROWS) continue;
#if VECTORS
      bool ok;
      const ELEMENT* from = rows[i].at(part, k, ok);
#if PADDED
      const u32 pads = pad * 0x01010101u;
      if (!ok) st_shared_16(stage + place_of(r, piece), make_uint4(pads, pads, pads, pads));
      else
#endif
      cp_async_16(stage + place_of(r, piece), from, ok);
#else
      place_each(stage + place_of(r, piece), [&](int e) {
        bool ok;
        const ELEMENT* from = rows[i].at(part, k + e, ok);
        return ok ? *from : pad;
      });
#endif
    }
    #pragma unroll
    for (int i = 0; i < kBRows; ++i) {
      const int r = threadIdx.x / 8 + i * kRowStep, n = first_column + r;
      if (COLUMNS % kRowStep != 0 && r >= COLUMNS) continue;
      const u32 to = stage + ROWS * 128 + place_of(r, piece);
#if VECTORS
      const bool ok = n < N && k < part.terms;
      cp_async_16(to, ok ? weights + (i64)n * K + k : weights, ok);
#else
      place_each(to, [&](int e) { return n < N && k + e < part.terms ? weights[WEIGHT_AT(n, k + e)] : (ELEMENT)0; });
#endif
    }
  };

  SUM c[kMi][kNi][4] = {};
  #pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (begin + s < end) load(begin + s);
    cp_async_commit_group();
  }
  const int warp_row = warp / WARPS_ACROSS * kWarpRows, warp_column = warp % WARPS_ACROSS * kWarpColumns;
  for (int tile = begin; tile < end; ++tile) {
    cp_async_wait_group<STAGES - 2>();
    __syncthreads();
    if (tile + STAGES - 1 < end) load(tile + STAGES - 1);
    cp_async_commit_group();
    const u32 stage = base + tile % STAGES * kStageBytes;
    #pragma unroll
    for (int s = 0; s < 4; ++s) {
      u32 fa[kMi][4], fb[kNi / 2][4];
      #pragma unroll
      for (int i = 0; i < kMi; ++i) load_fragment(fa[i], stage + place_of(warp_row + i * 16 + lane % 16, s * 2 + lane / 16));
      #pragma unroll
      for (int j = 0; j < kNi / 2; ++j)
        load_fragment(fb[j], stage + ROWS * 128 + place_of(warp_column + j * 16 + lane / 16 * 8 + lane % 8, s * 2 + lane / 8 % 2));
      #pragma unroll
      for (int i = 0; i < kMi; ++i)
        #pragma unroll
        for (int j = 0; j < kNi; ++j) mma(c[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
  cp_async_wait_group<0>();
  __syncthreads();

  // Sums pass through shared memory, so that the epilogue reads and writes whole rows.
  SUM* sums = (SUM*)shared;
  #pragma unroll
  for (int i = 0; i < kMi; ++i)
    #pragma unroll
    for (int j = 0; j < kNi; ++j)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const SUM two[2] = {c[i][j][2 * h], c[i][j][2 * h + 1]};
        write<2>(sums + (warp_row + i * 16 + lane / 4 + 8 * h) * kPitch + warp_column + j * 8 + lane % 4 * 2, two);
      }
#if SPLIT > 1
  cluster_sync_aligned();
#else
  __syncthreads();
#endif
  constexpr int kVectors = COLUMNS / WIDTH, kOwnRows = ROWS / SPLIT;
  for (int i = threadIdx.x; i < kOwnRows * kVectors; i += kThreads) {
    const int r = blockIdx.z * kOwnRows + i / kVectors, column = i % kVectors * WIDTH, across = first_column + column;
    const i64 down = first_row + r;
    if (down >= a.m || across >= N) continue;
    SUM sum[WIDTH];
#if SPLIT > 1
    const u32 own = (u32)__cvta_generic_to_shared(sums + r * kPitch + column);
    SUM shares[SPLIT][WIDTH];   // all of them are under way before the first is added
    #pragma unroll
    for (int z = 0; z < SPLIT; ++z) {
      const u32 there = mapa(own, z);
#if VECTORS
      #pragma unroll
      for (int v = 0; v < WIDTH; v += 4)
        asm volatile("ld.shared::cluster.v4.b32 {%0,%1,%2,%3}, [%4];"
                     : SUM_REGISTER(shares[z][v]), SUM_REGISTER(shares[z][v + 1]), SUM_REGISTER(shares[z][v + 2]),
                       SUM_REGISTER(shares[z][v + 3])
                     : "r"(there + 4 * v));
#else
      asm volatile("ld.shared::cluster.b32 %0, [%1];" : SUM_REGISTER(shares[z][0]) : "r"(there));
#endif
    }
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) {
      sum[v] = 0;
      #pragma unroll
      for (int z = 0; z < SPLIT; ++z) sum[v] += shares[z][v];   // in one order: the same bits every time
    }
#else
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) sum[v] = sums[r * kPitch + column + v];
#endif
    OUT y[WIDTH];
#if SPREADS
    const int tap = across / RESULT, n = across % RESULT, position = (int)(down % (IZ * IY * IX));
    const int result_z = position / (IY * IX) * KZ + tap / (KY * KX), result_y = position / IX % IY * KY + tap / KX % KY;
    const i64 m = ((down / (IZ * IY * IX) * (IZ * KZ) + result_z) * (IY * KY) + result_y) * (i64)(IX * KX) + position % IX * KX + tap % KX;
#else
    const int n = part.group * N + across;
    const i64 m = RESULT_ROW(down);
    if (m < 0) continue;
#endif
    EPILOGUE
    write<WIDTH>((OUT*)a.y + m * PITCH + n, y);
  }
#if SPLIT > 1
  cluster_sync_aligned();   // nobody leaves while others read
#endif
}
