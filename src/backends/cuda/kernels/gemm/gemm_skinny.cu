// Products of few rows on Hopper's tensor cores: a block loads all of its part of the matrix at once, before the kernel ahead has ended,
// and the SPLIT blocks of a cluster share the sum over k.
//
//   shared memory, from a multiple of 1024                      one pass, no stage is used twice
//   +--------------------------------------------+
//   | step 0: a 64 x 128 bytes, b COLUMNS x 128  |   b by TMA at once; a once the kernel before has ended; wgmma step by step
//   | step 1 .. count - 1                        |
//   |   later: sums, 64 rows of kPitch floats    |   each block adds up 64 / SPLIT rows of all blocks, and computes the epilogue
//   +--------------------------------------------+
//   | a full barrier for each step               |
//   +--------------------------------------------+
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_skinny.cpp prints those of a problem
#define OUT u16
#define N 256
#define COLUMNS 64           // of a block
#define SPLIT 2              // blocks of a cluster along k
#define CLUSTER __cluster_dims__(1, 1, 2)
#define WIDTH 4              // results that a thread finishes at once
#define kSteps 8             // of 128 bytes along k
#define DEPTH 64             // elements of a step
#define BARRIERS_AT 65536    // bytes
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = to_f16(sum[v]);   // sum[WIDTH] at row m, column n
__device__ __forceinline__ void wgmma(float (&)[32], u64, u64, int) {}
#endif

#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/mbarrier.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/lib/tma.cuh"
#include "backends/cuda/kernels/lib/wgmma.cuh"
#include "backends/cuda/kernels/gemm/gemm_skinny_args.h"

constexpr int kThreads = 128, kRows = 64, kABytes = kRows * 128, kStageBytes = kABytes + COLUMNS * 128, kPitch = COLUMNS + 4;

extern "C" __global__ void CLUSTER __launch_bounds__(kThreads) gemm(const __grid_constant__ SkinnyArguments a) {
  extern __shared__ u8 shared[];
  const u32 base = smem_address(shared) + 1023 & ~1023u, barriers = base + BARRIERS_AT;
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32, 0), z = blockIdx.z;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * COLUMNS;
  const int begin = kSteps * z / SPLIT, count = kSteps * (z + 1) / SPLIT - begin;
  if (threadIdx.x == 0) {
    for (int s = 0; s < count; ++s) mbarrier_init(barriers + 8 * s, 1);
    fence_mbarrier_init();
    for (int s = 0; s < count; ++s) {
      mbarrier_expect_tx(barriers + 8 * s, kStageBytes);
      tma_load_2d(base + s * kStageBytes + kABytes, a.b, (begin + s) * DEPTH, first_column, barriers + 8 * s);
    }
  }
  // The matrix is constant; what the kernel before wrote is there from here on.
  enter_persistent();
  if (threadIdx.x == 0)
    for (int s = 0; s < count; ++s) tma_load_2d(base + s * kStageBytes, a.a, (begin + s) * DEPTH, first_row, barriers + 8 * s);
  __syncthreads();

  float c[COLUMNS / 2];
  for (int s = 0; s < count; ++s) {
    mbarrier_wait(barriers + 8 * s, 0);
    const u64 da = smem_descriptor(base + s * kStageBytes), db = smem_descriptor(base + s * kStageBytes + kABytes);
    wgmma_fence();
    #pragma unroll
    for (int i = 0; i < 4; ++i) wgmma(c, da + i * 2, db + i * 2, s > 0 || i > 0);
    wgmma_commit_group();
  }
  wgmma_wait_group<0>();
  wgmma_fence_operand(c);
  __syncthreads();   // sums go where tiles were

  #pragma unroll
  for (int j = 0; j < COLUMNS / 8; ++j)
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      const u32 to = base + 4 * ((warp * 16 + lane / 4 + h * 8) * kPitch + j * 8 + lane % 4 * 2);
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" :: "r"(to), "f"(c[j * 4 + h * 2]), "f"(c[j * 4 + h * 2 + 1]) : "memory");
    }
#if SPLIT > 1
  cluster_sync_aligned();
#else
  __syncthreads();
#endif
  constexpr int kAcross = COLUMNS / WIDTH, kOwnRows = kRows / SPLIT;
  for (int i = threadIdx.x; i < kOwnRows * kAcross; i += kThreads) {
    const int r = z * kOwnRows + i / kAcross, column = i % kAcross * WIDTH, n = first_column + column;
    const i64 m = first_row + r;
    if (m >= a.m || n >= N) continue;
    float part[SPLIT][WIDTH], sum[WIDTH] = {};
    #pragma unroll
    for (int p = 0; p < SPLIT; ++p) {
      const u32 there = mapa(base + 4 * (r * kPitch + column), p);
      asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(part[p][0]), "=f"(part[p][1]), "=f"(part[p][2]), "=f"(part[p][3]) : "r"(there));
    }
    #pragma unroll
    for (int p = 0; p < SPLIT; ++p)   // in one order: the same bits every time
      #pragma unroll
      for (int v = 0; v < WIDTH; ++v) sum[v] += part[p][v];
    OUT y[WIDTH];
    EPILOGUE
    write<WIDTH>((OUT*)a.y + m * N + n, y);
  }
#if SPLIT > 1
  cluster_sync_aligned();   // nobody leaves while others read
#endif
}
