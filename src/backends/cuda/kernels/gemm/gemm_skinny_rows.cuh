// Mean and deviation of the rows that a block of gemm_skinny.cu has in shared memory. Sums are products with ones (mma.sync), squares are
// added up by threads: so the eight warps keep up with the tiles as they come. Squares lose (mean / deviation)^2 of their precision, far
// less than the matrix loses of the mean, for its columns' means are zero but for their rounding.
#pragma once
#include "backends/cuda/kernels/lib/ldmatrix.cuh"
#include "backends/cuda/kernels/lib/mma.cuh"

// A warp has 16 rows and half of the columns of each tile.
struct RowMoments {
  float sums[2][4] = {}, upper[2] = {}, lower[2] = {};   // of rows lane / 4 and eight below
  typedef u32 Part[2][4];
  static __device__ __forceinline__ void load(Part& x, u32 tile) {
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16, half = threadIdx.x / 128 - 1;
    #pragma unroll
    for (int i = 0; i < 2; ++i)   // 16 columns; TMA permutes pieces of 16 bytes
      ldmatrix_x4(x[i], tile + row * 128 + ((half * 4 + i * 2 + lane / 16 ^ row & 7) << 4));
  }
  __device__ __forceinline__ void add(const Part& x) {
    const u32 ones = BF16 ? 0x3f803f80u : 0x3c003c00u;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      mma(sums[i], x[i], ones, ones);
      #pragma unroll
      for (int e = 0; e < 4; ++e) {   // rows in turn
        const float low = LOAD((u16)x[i][e]), high = LOAD((u16)(x[i][e] >> 16));
        float (&squares)[2] = e % 2 ? lower : upper;
        squares[0] += low * low, squares[1] += high * high;
      }
    }
  }
  // Tiles of all steps; the next one is asked for before the last one is added, for a warp waits longer than it computes.
  __device__ __forceinline__ void add_all(u32 tiles, u32 barriers, int count) {
    Part even, odd;
    mbarrier_wait(barriers, 0), load(even, tiles);
    for (int s = 0; s < count; s += 2) {
      if (s + 1 < count) mbarrier_wait(barriers + 8 * (s + 1), 0), load(odd, tiles + (s + 1) * kStageBytes);
      add(even);
      if (s + 1 >= count) break;
      if (s + 2 < count) mbarrier_wait(barriers + 8 * (s + 2), 0), load(even, tiles + (s + 2) * kStageBytes);
      add(odd);
    }
  }
  // Sum and sum of squares, to who finishes the row.
  __device__ __forceinline__ void give_own(u32 moments, u32 arrived, int z) {
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4, half = threadIdx.x / 128 - 1;
    const float above = over_warp<Sum, 4>(upper[0] + upper[1]), below = over_warp<Sum, 4>(lower[0] + lower[1]);
    const bool second = lane % 4 == 1;
    if (lane % 4 >= 2) return;
    const int own = second ? row + 8 : row;
    const float sum = second ? sums[0][2] + sums[1][2] : sums[0][0] + sums[1][0];
    give(moments + 8 * ((z * 2 + half) * kOwnRows + own % kOwnRows), own / kOwnRows, sum, second ? below : above, arrived);
  }
};

// Of row `r` of those that the block finishes.
struct Deviation {
  float mean, inverse;
  __device__ __forceinline__ Deviation(u32 moments, int r) {
    float sum = 0.f, squares = 0.f;
    #pragma unroll
    for (int p = 0; p < 2 * SPLIT; ++p) {
      float of_part, squares_of_part;
      asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(of_part), "=f"(squares_of_part) : "r"(moments + 8 * (p * kOwnRows + r)));
      sum += of_part, squares += squares_of_part;
    }
    mean = sum * (1.0f / K);
    const float variance = squares * (1.0f / K) - mean * mean;
    inverse = rsqrtf((variance < 0.f ? 0.f : variance) + (float)EPSILON);   // NaN stays
  }
};
