// Convolutions with few channels on Hopper's tensor cores. A block keeps its weights in shared memory and walks along one axis of the
// image; every plane of its tile is loaded once for all taps. The taps along that axis are columns of one product, so that FOLD planes of
// results grow at once; one is complete after each step.
//
//   shared memory, from a multiple of 1024                    pipeline of a plane
//   +---------------------------------------------+
//   | weights of all taps, loaded once            |   weights_full
//   | stage 0: kBoxX x kBoxY positions of DEPTH   |   producer: a plane's channels, DEPTH at a time -> full
//   |          channels, a tile with its margin   |   consumers: wgmma for all taps -> empty; after the last channels the oldest
//   | stage 1 .. STAGES - 1                       |     plane of results is complete: epilogue -> global memory, the others move up
//   | barriers: full, empty, weights_full         |
//   +---------------------------------------------+
//
// Positions follow each other in a stage; their pieces of 16 bytes are permuted as TMA leaves them, by bits of the address. Eight positions
// along x are what wgmma reads at once, wherever they begin: a tap is an offset.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/conv/conv_planes.cpp prints those of a problem
#define BF16 0
#define WIDTH 2              // results that the epilogue computes at once
#define N 32                 // filters
#define PITCH 32             // from one position of the result to the next
#define C 32                 // channels
#define FILTERS 32           // of a block
#define TILE_X 16
#define TILE_Y 16
#define WARPGROUPS 2         // consumers
#define BLOCKS 2             // of 8 x 8 positions, of a consumer
#define DEPTH 32             // channels of a stage
#define STAGES 4
#define ROWS_ARE_IMAGES 0    // of pictures, whose walk goes along y
#define FOLD 3               // taps along the walk
#define KY 3
#define KX 3
#define IZ 16                // extents along the walk: of the image and of the result
#define OZ 16
#define OY 16
#define OX 16
#define BZ 1                 // where windows begin before the image
#define BY 1
#define BX 1
#define PRODUCTS                                                // ALL_TAPS by the instruction for `count` planes of results
#define EPILOGUE y[0] = sum[0], y[1] = sum[1];                  // sum[2] at position m, filters n and n + 1
#endif

#include "backends/cuda/kernels/lib/mbarrier.cuh"
#include "backends/cuda/kernels/lib/pair.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/lib/tma.cuh"
#include "backends/cuda/kernels/lib/wgmma.cuh"
#include "backends/cuda/kernels/conv/conv_planes_args.h"

constexpr int kThreads = 128 * (WARPGROUPS + 1), kPatchesX = TILE_X / 8, kBoxX = TILE_X + KX - 1, kBoxY = TILE_Y + KY - 1;
constexpr int kBoxBytes = kBoxX * kBoxY * DEPTH * 2, kStageBytes = (kBoxBytes + 1023) / 1024 * 1024;
constexpr int kPosition = DEPTH / 8, kDeeper = 2;   // of 16 bytes: from one position to the next, and to the next 16 channels
constexpr u64 kSwizzle = (u64)(DEPTH == 64 ? 1 : DEPTH == 32 ? 2 : 3) << 62;
constexpr int kPieces = C / DEPTH, kColumns = FOLD * FILTERS, kTapBytes = C * kColumns * 2, kWeightBytes = KY * KX * kTapBytes;
constexpr int kStagesAt = (kWeightBytes + 1023) / 1024 * 1024, kBarriersAt = kStagesAt + STAGES * kStageBytes, kSplits = N / FILTERS;

// All taps of a piece of a plane.
#define ALL_TAPS(multiply)                                                                        \
  {                                                                                               \
    _Pragma("unroll 1")                                                                           \
    for (int ky = 0; ky < KY; ++ky)                                                               \
      _Pragma("unroll")                                                                           \
      for (int kx = 0; kx < KX; ++kx)                                                             \
        _Pragma("unroll")                                                                         \
        for (int s = 0; s < DEPTH / 16; ++s)                                                      \
          _Pragma("unroll")                                                                       \
          for (int b = 0; b < BLOCKS; ++b)                                                        \
            multiply(c[b], da + (patch[b] + (ky * kBoxX + kx) * kPosition + s * kDeeper),         \
                     db + ((ky * KX + kx) * (C / 8) + s * 2) * kColumns);                         \
  }

__device__ __forceinline__ void load_box(u32 to, const TensorMap& map, int c, int x, int y, int z, int image, u32 barrier) {
  if (ROWS_ARE_IMAGES) tma_load_4d(to, map, c, x, z, y, barrier);
  else tma_load_5d(to, map, c, x, y, z, image, barrier);
}
// Pieces of eight rows of 16 bytes: `deeper` bytes to the next eight channels, `further` to the next eight rows.
__device__ __forceinline__ u64 row_descriptor(u32 address, int deeper, int further) {
  return (u64)(address >> 4 & 0x3fff) | (u64)(deeper >> 4) << 16 | (u64)(further >> 4) << 32;
}
// What a block computes before it goes elsewhere: a tile of positions, and some steps along the walk.
struct Item {
  int x, y, z, length, image;
  __device__ __forceinline__ Item(const PlanesArguments& a, int item) {
    const int chunks = (OZ + a.length - 1) / a.length, down = (rows(a) + TILE_Y - 1) / TILE_Y;
    z = item % chunks * a.length, item /= chunks;
    x = item % kAcross * TILE_X, item /= kAcross;
    y = item % down * TILE_Y, image = item / down;
    length = min(a.length, OZ - z);
  }
  static constexpr int kAcross = (OX + TILE_X - 1) / TILE_X;
  static __device__ __forceinline__ int rows(const PlanesArguments& a) { return ROWS_ARE_IMAGES ? a.images : OY; }
  static __device__ __forceinline__ int count(const PlanesArguments& a) {
    return (OZ + a.length - 1) / a.length * ((rows(a) + TILE_Y - 1) / TILE_Y) * kAcross * (ROWS_ARE_IMAGES ? 1 : a.images);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1) conv(const __grid_constant__ PlanesArguments a) {
  extern __shared__ u8 shared[];
  const u32 base = smem_address(shared) + 1023 & ~1023u, barriers = base + kBarriersAt;
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
  const auto full = [&](int stage) { return barriers + 8 * stage; };
  const auto empty = [&](int stage) { return barriers + 8 * (STAGES + stage); };
  const u32 weights_full = barriers + 16 * STAGES;
  const int split = blockIdx.x % kSplits, first_item = blockIdx.x / kSplits, items = Item::count(a), step = gridDim.x / kSplits;
  if (threadIdx.x == 0) {
    prefetch_tensormap(a.x);
    for (int s = 0; s < STAGES; ++s) mbarrier_init(full(s), 1), mbarrier_init(empty(s), 4 * WARPGROUPS);
    mbarrier_init(weights_full, 1);
    fence_mbarrier_init();
    mbarrier_expect_tx(weights_full, kWeightBytes);  // no kernel before this one writes them
    for (int tap = 0; tap < KY * KX; ++tap)
      tma_load_bytes(base + tap * kTapBytes, (const u8*)a.w + (i64)split * kWeightBytes + tap * kTapBytes, kTapBytes, weights_full);
  }
  __syncthreads();
  // What the kernel before wrote is there from here on, if this one was started early; the next one may be.
  enter_persistent();

  if (warpgroup == 0) {
    setmaxnreg_dec<WARPGROUPS == 2 ? 40 : 32>();
    if (warp == 0 && lane == 0) {  // the producer
      int stage = 0;
      u32 parity = 0;
      for (int item = first_item; item < items; item += step) {
        const Item it(a, item);
        for (int i = 0; i < it.length + FOLD - 1; ++i) {
          const int plane = it.z + i - BZ;
          if (plane < 0 || plane >= IZ) continue;
          for (int piece = 0; piece < kPieces; ++piece) {
            mbarrier_wait(empty(stage), parity ^ 1);
            mbarrier_expect_tx(full(stage), kBoxBytes);
            load_box(base + kStagesAt + stage * kStageBytes, a.x, piece * DEPTH, it.x - BX, it.y - BY, plane, it.image, full(stage));
            if (++stage == STAGES) stage = 0, parity ^= 1;
          }
        }
      }
    }
  } else {
    setmaxnreg_inc<WARPGROUPS == 2 ? 232 : 160>();
    int stage = 0, patch[BLOCKS], patch_x[BLOCKS], patch_y[BLOCKS];
    u32 parity = 0;
    #pragma unroll
    for (int b = 0; b < BLOCKS; ++b) {
      const int q = (warpgroup - 1) * BLOCKS + b;
      patch_x[b] = q % kPatchesX * 8, patch_y[b] = q / kPatchesX * 8, patch[b] = (patch_y[b] * kBoxX + patch_x[b]) * kPosition;
    }
    const auto release = [&](int s) {
      if (lane == 0) mbarrier_arrive(empty(s));
    };
    const u64 weights = row_descriptor(base, kColumns * 16, 128);
    mbarrier_wait(weights_full, 0);
    for (int item = first_item; item < items; item += step) {
      const Item it(a, item);
      float c[BLOCKS][kColumns / 2] = {};
      for (int i = 0; i < it.length + FOLD - 1; ++i) {
        const int plane = it.z + i - BZ;
        if (plane >= 0 && plane < IZ) {
          // Results that this plane adds to: at both ends of an item fewer than the fold. The first of them is always c's first.
          const int first = max(0, FOLD - 1 - i), count = first > 0 ? FOLD - first : min(FOLD, it.length + FOLD - 1 - i);
          int previous = 0;
          #pragma unroll 1
          for (int piece = 0; piece < kPieces; ++piece) {
            mbarrier_wait(full(stage), parity);
            const u64 da = row_descriptor(base + kStagesAt + stage * kStageBytes, 16, kBoxX * kPosition * 16) | kSwizzle;
            const u64 db = weights + (piece * (DEPTH / 8 * kColumns) + first * FILTERS);
            wgmma_fence();
            PRODUCTS
            wgmma_commit_group();
            if (piece > 0) {
              wgmma_wait_group<1>();
              release(previous);
            }
            previous = stage;
            if (++stage == STAGES) stage = 0, parity ^= 1;
          }
          wgmma_wait_group<0>();
          release(previous);
        }
        #pragma unroll
        for (int b = 0; b < BLOCKS; ++b) wgmma_fence_operand(c[b]);
        if (i >= FOLD - 1) {  // the first of the planes is complete
          const int z = it.z + i - (FOLD - 1);
          #pragma unroll
          for (int b = 0; b < BLOCKS; ++b)
            #pragma unroll
            for (int h = 0; h < 2; ++h) {
              const int x = it.x + patch_x[b] + lane / 4, row = it.y + patch_y[b] + 2 * warp + h;
              const bool there = x < OX && row < Item::rows(a);
              const i64 m = !there ? 0 : ROWS_ARE_IMAGES ? ((i64)row * OZ + z) * OX + x : (((i64)it.image * OZ + z) * OY + row) * OX + x;
              #pragma unroll
              for (int j0 = 0; j0 < FILTERS / 8; j0 += 4) {
                u32 pairs[4];
                #pragma unroll
                for (int j = 0; j < 4 && j0 + j < FILTERS / 8; ++j) {
                  const int n = split * FILTERS + (j0 + j) * 8 + lane % 4 * 2, e = (j0 + j) * 4 + h * 2;
                  const float sum[2] = {c[b][e], c[b][e + 1]};
                  float y[2];
                  EPILOGUE
                  pairs[j] = pair(y[0], y[1]);
                  if (FILTERS % 32 != 0 && there) *(u32*)((u16*)a.y + m * PITCH + n) = pairs[j];
                }
                if (FILTERS % 32 == 0) {
                  transpose_pairs(pairs, lane);
                  if (there)
                    *(uint4*)((u16*)a.y + m * PITCH + split * FILTERS + j0 * 8 + lane % 4 * 8) =
                        make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
                }
              }
            }
          #pragma unroll
          for (int b = 0; b < BLOCKS; ++b)
            #pragma unroll
            for (int e = 0; e < kColumns / 2; ++e) c[b][e] = e + FILTERS / 2 < kColumns / 2 ? c[b][e + FILTERS / 2] : 0.f;
        }
      }
    }
  }
}
