// Convolutions of images with few channels (first layers) on tensor cores. What a window reads of one row of the image, a run, lies
// together in memory, taps and channels alike: a block copies its part of the image to shared memory as it is, and fragments are read
// from there in pairs of elements. The last elements of odd runs have no partner; they come behind all others.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/conv/conv_small_c.cpp prints those of a problem
#define MMA_BITS 16
#define BF16 0
#define WIDTH 2              // results that the epilogue computes at once
#define C 3                  // channels
#define N 64                 // filters
#define ROW 64               // from one position of the result to the next
#define RUN 9                // elements of a run
#define DEPTH 96             // of the product
#define PITCH 104            // of a row of weights
#define FILTERS 64           // of a block
#define PACKED_FILTERS 64
#define TWICE 1              // windows begin at odd elements, too: the tile lies twice in shared memory, once shifted by one
#define TILE_Y 16            // of a tile of results, which is 16 wide
#define TILE_Z 1
#define BLOCKS 2             // of 16 results, of a warp
#define WARPS 8
#define WIDE 0               // the image is of f32, plane by plane, and rounded as it is read
#define IMAGE u16
#define VECTORS 1            // results and operands of the epilogue lie at multiples of 16 bytes
#define POOLED 0             // of each two by two sums only the largest goes on
#define TO_HALF to_f16
#define BYTES 0              // results are floats that are rounded to 8 bits, as in gemm_wgmma_strips.cuh
#define BYTE_LOWER 0
#define BYTE_UPPER 255
#define BYTE_ZERO 0
#define EPILOGUE y[0] = sum[0], y[1] = sum[1];   // sum[2] at position m, filters n and n + 1
#define IZ 16
#define IY 16
#define IX 16
#define OZ 16
#define OY 16
#define OX 16
#define KZ 3
#define KY 3
#define KX 3
#define SZ 1
#define SY 1
#define SX 1
#define DZ 1
#define DY 1
#define DX 1
#define BZ 1
#define BY 1
#define BX 1
#endif

#include "backends/cuda/kernels/conv/conv_small_c_args.h"
#include "backends/cuda/kernels/lib/ldmatrix.cuh"
#include "backends/cuda/kernels/lib/mma.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"

using namespace tenfold::backends::cuda;

#if !VECTORS   // what the epilogue reads
template <int V, class T> __device__ __forceinline__ void read_each(const T* p, T (&x)[V]) {
  for (int i = 0; i < V; ++i) x[i] = p[i];
}
#define read read_each
#endif

// A row of the tile, in elements; its pitch in whole words.
constexpr int kThreads = 32 * WARPS, kRow = (15 * SX + KX) * C, kWords = (kRow + 2) / 2, kRowPitch = kWords * 2;
constexpr int kRowsY = (TILE_Y - 1) * SY + (KY - 1) * DY + 1, kRowsZ = (TILE_Z - 1) * SZ + (KZ - 1) * DZ + 1, kRows = kRowsY * kRowsZ;
constexpr int kCopy = (kRows * kRowPitch + 63) / 64 * 64 + 32, kSteps = DEPTH / 16, kWeights = PACKED_FILTERS * PITCH;
constexpr int kAcross = (OX + 15) / 16, kDown = (OY + TILE_Y - 1) / TILE_Y, kDeep = (OZ + TILE_Z - 1) / TILE_Z;
constexpr int kPool = POOLED ? 2 : 1, kResults = BLOCKS / kPool, kPooledX = OX / kPool, kPooledY = OY / kPool;
constexpr int kWhole = RUN / 2 * KY * KZ;  // pairs of elements that a window has; behind them come those of one element

#if BYTES
typedef u8 Result;
__device__ __forceinline__ u32 of_two(float low, float high) {   // in the lower half
  const u32 first = rounded_byte<BYTE_LOWER, BYTE_UPPER>(low, BYTE_ZERO), second = rounded_byte<BYTE_LOWER, BYTE_UPPER>(high, BYTE_ZERO);
  return __byte_perm(first, second, 0x0040) & 0xffff;
}
#else
typedef u16 Result;
__device__ __forceinline__ u32 of_two(float low, float high) { return pair(low, high); }
#endif
template <int PAIRS> __device__ __forceinline__ void put(Result* to, const u32 (&pairs)[PAIRS]) {
#if BYTES
  u16 halves[PAIRS];
  #pragma unroll
  for (int i = 0; i < PAIRS; ++i) halves[i] = (u16)pairs[i];
  #pragma unroll
  for (int i = 0; i < 2 * PAIRS && !VECTORS; ++i) to[i] = (u8)(halves[i / 2] >> i % 2 * 8);
  if (VECTORS) write<PAIRS>((u16*)to, halves);
#elif VECTORS
  write<PAIRS>((u32*)to, pairs);
#else
  #pragma unroll
  for (int i = 0; i < 2 * PAIRS; ++i) to[i] = (u16)(pairs[i / 2] >> i % 2 * 16);
#endif
}
// Where a pair of a window's elements lies, counted from its first one; -1 if there is none.
__device__ __forceinline__ int place_of(int pair) {
  const int run = pair < kWhole ? pair / (RUN / 2 + (RUN < 2)) : pair - kWhole;
  const int e = pair < kWhole ? pair % (RUN / 2 + (RUN < 2)) * 2 : RUN - 1;
  return pair < kWhole + RUN % 2 * KY * KZ ? (run / KY * DZ * kRowsY + run % KY * DY) * kRowPitch + e : -1;
}

// Of a line of the image in the order of windows, where channels lie beside each other.
__device__ __forceinline__ u32 element(const u16* line, int i) { return line[i]; }
__device__ __forceinline__ u32 element(const float* line, int i) { return TO_HALF(line[i % C * (IZ * IY * IX) + i / C]); }

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS > 2 ? 1 : 2) conv(const ConvSmallCArgumentsOf<IMAGE, u16> a) {
  extern __shared__ __align__(128) u16 shared[];   // weights, zeros, the tile once or twice
  u16* const tile = shared + kWeights + 64;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, split = blockIdx.y;
  const u32 weights = smem_address(shared);
  for (int i = threadIdx.x; i < kWeights / 8; i += kThreads)
    ((uint4*)shared)[i] = ((const uint4*)(a.w + (i64)split * kWeights))[i];
  for (int i = threadIdx.x; i < 64; i += kThreads) shared[kWeights + i] = 0;
  int place[kSteps][2];   // elements from a window's first
  #pragma unroll
  for (int s = 0; s < kSteps; ++s)
    #pragma unroll
    for (int h = 0; h < 2; ++h) place[s][h] = place_of(s * 8 + h * 4 + lane % 4);
  enter();
  const i64 tiles = a.images * (kAcross * kDown * kDeep);
  for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {
    int rest = (int)(t % (kAcross * kDown * kDeep));
    const i64 image = t / (kAcross * kDown * kDeep);
    const int ox = rest % kAcross * 16, oy = rest / kAcross % kDown * TILE_Y, oz = rest / kAcross / kDown * TILE_Z;
    const IMAGE* from = a.x + image * ((i64)IZ * IY * IX * C);
    __syncthreads();
    const int first = (ox * SX - BX) * C;   // element of an image's row
    for (int row = warp; row < kRows; row += WARPS) {
      const int iy = oy * SY - BY + row % kRowsY, iz = oz * SZ - BZ + row / kRowsY;
      const bool inside = iy >= 0 && iy < IY && iz >= 0 && iz < IZ;
      const IMAGE* line = from + ((i64)iz * IY + iy) * (WIDE ? IX : IX * C);
      #pragma unroll
      for (int word = 0; word < (kWords + 31) / 32 * 32; word += 32) {
        const int e = (word + lane) * 2;
        const auto at = [&](int i) {
          return inside && (u32)(first + i) < (u32)(IX * C) && i < kRow ? element(line, first + i) : 0u;
        };
        const u32 low = at(e), high = at(e + 1);
        if (e >= kRowPitch) continue;
        *(u32*)(tile + row * kRowPitch + e) = low | high << 16;
        if (TWICE) {
          tile[kCopy + row * kRowPitch + e + 1] = (u16)low;
          tile[kCopy + row * kRowPitch + e + 2] = (u16)high;
        }
      }
    }
    __syncthreads();

    float c[BLOCKS][FILTERS / 8][4] = {};
    const u16* window[BLOCKS][2];
    #pragma unroll
    for (int b = 0; b < BLOCKS; ++b)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int line = warp * BLOCKS + b, e = (lane / 4 + h * 8) * SX * C;
        window[b][h] = tile + (line / TILE_Y * SZ * kRowsY + line % TILE_Y * SY) * kRowPitch + e + (TWICE && (e & 1) ? kCopy + 1 : 0);
      }
    #pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      u32 fa[BLOCKS][4], fb[PACKED_FILTERS / 16][4];
      #pragma unroll
      for (int b = 0; b < BLOCKS; ++b)
        #pragma unroll
        for (int q = 0; q < 4; ++q) {
          const int at = place[s][q / 2];
          const u32 both = *(const u32*)(s + 1 == kSteps && at < 0 ? shared + kWeights : window[b][q % 2] + at);
          fa[b][q] = s * 8 + 7 >= kWhole && s * 8 + q / 2 * 4 + lane % 4 >= kWhole ? both & 0xffff : both;
        }
      #pragma unroll
      for (int j = 0; j < PACKED_FILTERS / 16; ++j)
        ldmatrix_x4(fb[j], weights + ((j * 16 + lane / 16 * 8 + lane % 8) * PITCH + s * 16 + lane / 8 % 2 * 8) * 2);
      #pragma unroll
      for (int b = 0; b < BLOCKS; ++b)
        #pragma unroll
        for (int j = 0; j < FILTERS / 8; ++j) mma(c[b][j], fa[b], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }

#if POOLED
    #pragma unroll
    for (int b = 0; b < BLOCKS; b += 2)
      #pragma unroll
      for (int j = 0; j < FILTERS / 8; ++j)
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float most = max_nan(c[b][j][e], c[b + 1][j][e]);
          c[b / 2][j][e] = max_nan(most, __shfl_xor_sync(~0u, most, 4));
        }
#endif
    i64 result[kResults][2];   // which row, or -1
    #pragma unroll
    for (int b = 0; b < kResults; ++b)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int line = warp * BLOCKS + b * kPool, x = ox + lane / 4 + h * 8, y = oy + line % TILE_Y, z = oz + line / TILE_Y;
        const bool inside = x / kPool < kPooledX && y / kPool < kPooledY && z < OZ && x % kPool == 0;
        result[b][h] = inside ? ((image * OZ + z) * kPooledY + y / kPool) * kPooledX + x / kPool : -1;
      }
    #pragma unroll
    for (int j0 = 0; j0 < FILTERS / 8; j0 += 4) {
      u32 pairs[kResults][2][4];
      #pragma unroll
      for (int j = 0; j < 4 && j0 + j < FILTERS / 8; ++j) {
        const int column = split * FILTERS + (j0 + j) * 8 + lane % 4 * 2, n = N % FILTERS == 0 || column < N ? column : N - 2;
        #pragma unroll
        for (int b = 0; b < kResults; ++b)
          #pragma unroll
          for (int h = 0; h < 2; ++h) {
            const i64 m = max(result[b][h], (i64)0);
            const float sum[2] = {c[b][j0 + j][h * 2], c[b][j0 + j][h * 2 + 1]};
            float y[2];
            EPILOGUE
            pairs[b][h][j] = of_two(y[0], y[1]);
          }
      }
      #pragma unroll
      for (int b = 0; b < kResults; ++b)
        #pragma unroll
        for (int h = 0; h < 2; ++h) {
          Result* to = (Result*)a.y + result[b][h] * ROW + split * FILTERS + j0 * 8;
          if (FILTERS % 32 == 0) transpose_pairs(pairs[b][h], lane);
          if (result[b][h] < 0) continue;
          if (FILTERS % 32 == 0) {
            if (N % FILTERS == 0 || split * FILTERS + j0 * 8 + lane % 4 * 8 < N)
              put(to + lane % 4 * 8, pairs[b][h]);
          } else {
            #pragma unroll
            for (int j = 0; j < 4 && j0 + j < FILTERS / 8; ++j)
              if (N % FILTERS == 0 || split * FILTERS + (j0 + j) * 8 + lane % 4 * 2 < N)
                put(to + j * 8 + lane % 4 * 2, {pairs[b][h][j]});
          }
        }
    }
  }
}
