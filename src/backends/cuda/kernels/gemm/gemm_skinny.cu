// Products of few rows on Hopper's tensor cores: a block loads all of its part of the matrix at once, before the kernel ahead has ended,
// the SPLIT blocks of a cluster share the sum over k, and the PAIR blocks of neighboring rows each bring a part of the matrix for both.
//
//   shared memory, from a multiple of 1024                      one pass, no stage is used twice
//   +--------------------------------------------+
//   | step 0: a 64 x 128 bytes, b COLUMNS x 128  |   b by TMA at once; a once the kernel before has ended; wgmma step by step
//   | step 1 .. count - 1                        |   NORM: eight more warps sum up the rows of a meanwhile
//   +--------------------------------------------+
//   | sums: 64 rows of kPitch floats             |   SPLIT = 1: where tiles were; else SPLIT parts of 64 / SPLIT rows, each part pushed
//   +--------------------------------------------+   here by one block
//   | full barriers of the steps; one of sums    |
//   | NORM: of 64 rows two sums, two of squares          |   as parts likewise
//   +--------------------------------------------+
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_skinny.cpp prints those of a problem
#define OUT u16
#define N 256
#define K 512
#define COLUMNS 64           // of a block
#define SPLIT 2              // blocks of a cluster along k
#define PAIR 2               // blocks of a cluster down the rows
#define CLUSTER __cluster_dims__(1, 2, 2)
#define WIDTH 8              // results that a thread finishes at once
#define kSteps 8             // of 128 bytes along k
#define DEPTH 64             // elements of a step
#define SUMS_AT 65536        // bytes
#define BARRIERS_AT 98304
#define NORM 1               // results are divided by the deviation of a's row (gemm_skinny_rows.cuh)
#define EPSILON 1e-5
#define MMA_BITS 16
#define LOAD(x) from_f16(x)
#define BF16 0
#define OPERANDS u16 x0[WIDTH];   // of the epilogue, at row m and column n; they are there before sums are
#define READ_OPERANDS read<WIDTH>((const u16*)a.epilogue[0] + n, x.x0);
#define EPILOGUE for (int v = 0; v < WIDTH; ++v) y[v] = to_f16(sum[v] + from_f16(x.x0[v]));   // sum[WIDTH]
__device__ __forceinline__ void wgmma(float (&)[32], u64, u64, int) {}
#endif

#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/mbarrier.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/lib/tma.cuh"
#include "backends/cuda/kernels/lib/wgmma.cuh"
#include "backends/cuda/kernels/gemm/gemm_skinny_args.h"

constexpr int kThreads = 256, kAllThreads = NORM ? 384 : 256;   // that finish results; the others sum up rows
constexpr int kRows = 64, kABytes = kRows * 128, kStageBytes = kABytes + COLUMNS * 128, kPitch = COLUMNS + 4;
constexpr int kOwnRows = kRows / SPLIT, kMaxSteps = (kSteps + SPLIT - 1) / SPLIT;   // rows that a block finishes; steps that it has
constexpr int kArrivedAt = BARRIERS_AT + 8 * kMaxSteps, kMomentsAt = kArrivedAt + 8 & ~7;
constexpr int kAcross = COLUMNS / WIDTH, kItems = (kOwnRows * kAcross + kThreads - 1) / kThreads;   // WIDTH results that a thread finishes
// What a block is given by the others.
constexpr int kPushedBytes = (SPLIT - 1) * kOwnRows * (COLUMNS * 4 + (NORM ? 16 : 0));

__device__ __forceinline__ int first_step(int part) { return kSteps * part / SPLIT; }
// Two floats for the block that finishes their row. Its own are known once the block has met, the others' once their bytes are counted.
__device__ __forceinline__ void give(u32 to, int owner, float x, float y, u32 arrived) {
#if SPLIT > 1
  const int there = owner * PAIR + blockIdx.y % PAIR;
  if (owner != (int)blockIdx.z) return st_async(mapa(to, there), x, y, mapa(arrived, there));
#endif
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" :: "r"(to), "f"(x), "f"(y) : "memory");
}
#if NORM
#include "backends/cuda/kernels/gemm/gemm_skinny_rows.cuh"
#endif
struct Operands { OPERANDS };

__device__ __forceinline__ void load_matrix(const SkinnyArguments& a, u32 to, int k, int column, u32 barrier) {
#if PAIR > 1
  constexpr int kPart = COLUMNS / PAIR;
  const int part = blockIdx.y % PAIR * kPart;
  tma_load_2d_to(to + part * 128, a.b, k, column + part, barrier, ((1 << PAIR) - 1) << blockIdx.z * PAIR);
#else
  tma_load_2d(to, a.b, k, column, barrier);
#endif
}

extern "C" __global__ void CLUSTER __launch_bounds__(kAllThreads) gemm(const __grid_constant__ SkinnyArguments a) {
  extern __shared__ u8 shared[];
  const u32 base = smem_address(shared) + 1023 & ~1023u, barriers = base + BARRIERS_AT, arrived = base + kArrivedAt, sums = base + SUMS_AT;
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32, 0), z = blockIdx.z;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * COLUMNS;
  const int begin = first_step(z), count = first_step(z + 1) - begin;
  // Whether there is an item i of this thread; row r among those that the block finishes, of all rows m, column n.
  const auto place = [&](int i, int& r, int& n, i64& m) {
    const int item = i * kThreads + threadIdx.x;
    r = item / kAcross, n = first_column + item % kAcross * WIDTH, m = first_row + z * kOwnRows + r;
    if (kAllThreads > kThreads && threadIdx.x >= kThreads) return false;
    return (kOwnRows * kAcross % kThreads == 0 || item < kOwnRows * kAcross) && m < a.m && n < N;
  };
  if (threadIdx.x == 0) {
    prefetch_tensormap(a.a);
    for (int s = 0; s < count; ++s) mbarrier_init(barriers + 8 * s, 1);
#if SPLIT > 1
    mbarrier_init(arrived, 1);
#endif
    fence_mbarrier_init();
#if SPLIT > 1
    mbarrier_expect_tx(arrived, kPushedBytes);
#endif
    for (int s = 0; s < count; ++s) mbarrier_expect_tx(barriers + 8 * s, kStageBytes);
  }
#if SPLIT > 1 || PAIR > 1
  cluster_arrive();   // this block's barriers have started, the others may write here
#endif
#if PAIR > 1
  cluster_wait();
#endif
  if (threadIdx.x == 0)
    for (int s = 0; s < count; ++s) load_matrix(a, base + s * kStageBytes + kABytes, (begin + s) * DEPTH, first_column, barriers + 8 * s);
  // The matrix is constant; what the kernel before wrote is there from here on.
  enter_persistent();
  if (threadIdx.x == 0)
    for (int s = 0; s < count; ++s) tma_load_2d(base + s * kStageBytes, a.a, (begin + s) * DEPTH, first_row, barriers + 8 * s);
  Operands operands[kItems];
  #pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int r, n;
    i64 m;
    Operands& x = operands[i];
    if (!place(i, r, n, m)) continue;
    READ_OPERANDS
  }
  __syncthreads();

  float c[COLUMNS / 2];
#if NORM
  RowMoments moments;
  if (warp >= 4) moments.add_all(base, barriers, count);
#endif
  if (warp < 4) {
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
  }
#if SPLIT == 1
  __syncthreads();   // sums go where tiles were
#elif PAIR == 1
  cluster_wait();
#endif
#if NORM
  if (warp >= 4) moments.give_own(base + kMomentsAt, arrived, z);
#endif
  if (warp < 4) {
    #pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = warp * 16 + h * 8 + lane / 4, owner = (warp * 16 + h * 8) / kOwnRows;   // eight rows have one
        const u32 to = sums + 4 * ((z * kOwnRows + row % kOwnRows) * kPitch + j * 8 + lane % 4 * 2);
        give(to, owner, c[j * 4 + h * 2], c[j * 4 + h * 2 + 1], arrived);
      }
  }
  __syncthreads();
#if SPLIT > 1
  // All that others write here is there, so this block may leave once it has read it; what it gave lay in registers.
  mbarrier_wait_cluster(arrived, 0);
#endif
  #pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int r, n;
    i64 m;
    const Operands& x = operands[i];
    if (!place(i, r, n, m)) continue;
    float part[SPLIT][WIDTH], sum[WIDTH] = {};
    #pragma unroll
    for (int p = 0; p < SPLIT; ++p)
      #pragma unroll
      for (int v = 0; v < WIDTH; v += 4)
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(part[p][v]), "=f"(part[p][v + 1]), "=f"(part[p][v + 2]), "=f"(part[p][v + 3])
                     : "r"(sums + 4 * ((p * kOwnRows + r) * kPitch + n - first_column + v)));
    #pragma unroll
    for (int p = 0; p < SPLIT; ++p)   // in one order: the same bits every time
      #pragma unroll
      for (int v = 0; v < WIDTH; ++v) sum[v] += part[p][v];
#if NORM
    const Deviation row(base + kMomentsAt, r);
    if (n == 0) ((float*)a.inverse)[m] = row.inverse, ((float*)a.offset)[m] = row.mean * row.inverse;
    #pragma unroll
    for (int v = 0; v < WIDTH; ++v) sum[v] *= row.inverse;
#endif
    OUT y[WIDTH];
    EPILOGUE
    write<WIDTH>((OUT*)a.y + m * N + n, y);
  }
}
