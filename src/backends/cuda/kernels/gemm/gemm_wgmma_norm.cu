// A product, a row and a tensor added, and LayerNormalization of that, on Hopper's tensor cores: the blocks of a cluster hold whole rows
// between them, and tell each other mean and variance of their parts.
//
// A block stays and takes tile after tile; its columns are always the same. Warpgroup 0 is the producer, all others are consumers of
// 64 rows each.
//
//   shared memory, from a multiple of 1024                      pipeline of a tile
//   +--------------------------------------------+
//   | stages: a kTileRows x 128, b COLUMNS x 128 |   full  ->  wgmma over k  ->  empty
//   | slots: for each consumer all strips        |   slot_full: what is added came; the sum is kept there (KEPT) and stored
//   | barriers: full, empty, slot_full, .._empty |
//   | met: for each consumer warp two, in turns  |   mean and squares of rows -> parts of all blocks of the cluster
//   | parts: [turn][block][row] mean, squares    |   met: all blocks' parts are there -> the row's mean and deviation
//   | scale, bias, row: COLUMNS floats each      |   normalized results -> slot -> TMA store
//   +--------------------------------------------+
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_wgmma_norm.cpp prints those of a problem
#define BF16 0
#define N 768
#define kSteps 12            // of 64 elements along k
#define COLUMNS 192          // of a block; CLUSTER of them are N
#define CLUSTER 4
#define WARPGROUPS 2         // consumers
#define STAGES 4
#define SLOTS 3              // strips of a tile
#define STRIP 64
#define STAGED 0             // a tensor is added, which comes by TMA
#define KEPT 0               // the sum before the norm is a result, too
#define HAS_ROW 0
#define EPSILON 1e-5f
#define LOAD(x) from_f16(x)
#define SCALE u16
#define LOAD_SCALE(x) from_f16(x)
#define BIAS u16
#define LOAD_BIAS(x) from_f16(x)
#define ROW u16
#define LOAD_ROW(x) from_f16(x)
#define ARRIVING_LANES 1
__device__ __forceinline__ void wgmma(float (&)[96], u64, u64, int) {}
#endif

#include "backends/cuda/kernels/lib/arrivals.cuh"
#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/pair.cuh"
#include "backends/cuda/kernels/gemm/gemm_wgmma_pipeline.cuh"

constexpr int kWarpgroupRows = 64, kTileRows = 64 * WARPGROUPS, kThreads = 128 * (WARPGROUPS + 1);
constexpr int kStrips = COLUMNS / STRIP, kStripRow = STRIP * 2, kWarps = 4 * WARPGROUPS;

struct Shape {
  enum : int {
    stages = STAGES, steps = kSteps, rows = kTileRows, columns = COLUMNS, row_bytes = 128,
    consumers = WARPGROUPS, slots = SLOTS, slot_bytes = kWarpgroupRows * kStripRow
  };
};
typedef WgmmaPipeline<Shape> Pipeline;
constexpr int kMetAt = Pipeline::kEnd, kPartsAt = kMetAt + 8 * 2 * kWarps, kParts = 2 * CLUSTER * kTileRows;
constexpr int kRowAt = kPartsAt + 8 * kParts;

__device__ __forceinline__ float2 read_two(u32 address) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(address));
  return x;
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ WgmmaArguments a) {
  extern __shared__ u8 shared[];
  const u32 base = smem_address(shared) + 1023 & ~1023u;
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
  const Pipeline pipeline{base};
  const auto met = [&](int w, int turn) { return base + kMetAt + 8 * (w * 2 + turn); };
  const int block = blockIdx.x % CLUSTER, n0 = block * COLUMNS, step = gridDim.x / CLUSTER;
  const int tiles = (int)((a.m + kTileRows - 1) / kTileRows);
  if (threadIdx.x == 0) {
    pipeline.init(a, 4 * WARPGROUPS * ARRIVING_LANES);
    for (int w = 0; w < 2 * kWarps; ++w) mbarrier_init(met(w / 2, w % 2), CLUSTER * ARRIVING_LANES);
    fence_mbarrier_init();
    for (int k = 0; k < Pipeline::kAhead; ++k) {
      const u32 stage_b = pipeline.stage_b(k), full_barrier = pipeline.full(k);
      pipeline.expect(k);
      tma_load_2d(stage_b, a.b, k * 64, n0, full_barrier);
    }
  }
  // Scale, bias and the row that is added: constants, which no kernel before this one writes.
  for (int i = threadIdx.x; i < COLUMNS; i += kThreads) {
    const float scale = LOAD_SCALE(((const SCALE*)a.epilogue[0])[n0 + i]), bias = LOAD_BIAS(((const BIAS*)a.epilogue[1])[n0 + i]);
    const float row = HAS_ROW ? LOAD_ROW(((const ROW*)a.epilogue[2])[n0 + i]) : 0.f;
    const u32 to = base + kRowAt + 4 * i;
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to), "f"(scale));
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to + 4 * COLUMNS), "f"(bias));
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to + 8 * COLUMNS), "f"(row));
  }
  __syncthreads();
  cluster_sync();   // the others' barriers have started
  enter_persistent();

  if (warpgroup == 0) {
    setmaxnreg_dec<Pipeline::kProducerRegisters>();
    if (warp == 0 && lane == 0) {  // the producer of a and b
      int stage = 0;
      u32 parity = 0;
      for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += step)
        for (int k = 0; k < kSteps; ++k) {
          if (k >= Pipeline::kAhead || tile != blockIdx.x / CLUSTER) {
            pipeline.refill(stage, parity);
            tma_load_2d(pipeline.stage_b(stage), a.b, k * 64, n0, pipeline.full(stage));
          }
          tma_load_2d(pipeline.stage_a(stage), a.a, k * 64, tile * kTileRows, pipeline.full(stage));
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
    }
#if STAGED
    if (warp == 1 && lane == 0) {  // the producer of what is added
      u32 parity = 0;
      for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += step, parity ^= 1)
        for (int p = 0; p < kStrips; ++p)
          for (int g = 0; g < WARPGROUPS; ++g) {
            pipeline.refill_slot(g, p, parity);
            tma_load_2d(pipeline.slot_at(g, p), a.r, n0 + p * STRIP, tile * kTileRows + g * kWarpgroupRows, pipeline.slot_full(g, p));
          }
    }
#endif
  } else {
    setmaxnreg_inc<Pipeline::kConsumerRegisters>();
    const int consumer = warpgroup - 1, consumer_warp = consumer * 4 + warp, row = warp * 16 + lane / 4;
    int stage = 0, turn = 0;
    u32 parity = 0, slot_parity = 0, met_parity = 0;
    for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += step) {
      float c[1][COLUMNS / 2];
      int previous = 0;
      for (int k = 0; k < kSteps; ++k) {
        pipeline.multiply(stage, parity, consumer * kWarpgroupRows, c, k);
        if (k > 0) {
          wgmma_wait_group<1>();
          if (arrives(lane)) mbarrier_arrive(pipeline.empty(previous));
        }
        previous = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      wgmma_wait_group<0>();
      if (arrives(lane)) mbarrier_arrive(pipeline.empty(previous));
      wgmma_fence_operand(c[0]);

      const int m0 = tile * kTileRows + consumer * kWarpgroupRows;
      const auto place_of = [&](int p, int j) {
        const int piece = j ^ row * kStripRow / 128 & STRIP / 8 - 1;   // as TMA permutes them
        return pipeline.slot_at(consumer, p) + row * kStripRow + (piece << 4) + lane % 4 * 4;
      };
      const auto constants_of = [&](int which, int p, int j) {
        return read_two(base + kRowAt + 4 * (which * COLUMNS + p * STRIP + j * 8 + lane % 4 * 2));
      };
#if !STAGED
      if (warp == 0 && lane == 0) tma_store_wait<0>();   // of the tile before
      named_barrier_sync(1 + consumer, 128);
#endif
      float mean[2] = {0.f, 0.f}, spread[2] = {0.f, 0.f};
      #pragma unroll
      for (int p = 0; p < kStrips; ++p) {
#if STAGED
        mbarrier_wait(pipeline.slot_full(consumer, p), slot_parity);
#endif
        #pragma unroll
        for (int j = 0; j < STRIP / 8; ++j) {
          const float2 added = constants_of(2, p, j);
          #pragma unroll
          for (int h = 0; h < 2; ++h) {
            float& x = c[0][(p * STRIP / 8 + j) * 4 + h * 2];
            float& y = c[0][(p * STRIP / 8 + j) * 4 + h * 2 + 1];
            x += added.x, y += added.y;
#if STAGED
            u32 both;
            asm volatile("ld.shared.b32 %0, [%1];" : "=r"(both) : "r"(place_of(p, j) + h * 8 * kStripRow));
            x += LOAD((u16)both), y += LOAD((u16)(both >> 16));
#endif
            mean[h] += x + y;
#if KEPT
            asm volatile("st.shared.b32 [%0], %1;" :: "r"(place_of(p, j) + h * 8 * kStripRow), "r"(pair(x, y)));
#endif
          }
        }
      }
#if KEPT
      fence_proxy_async();
      named_barrier_sync(1 + consumer, 128);
      if (warp == 0 && lane == 0 && m0 < a.m)
        for (int p = 0; p < kStrips; ++p) tma_store_2d(pipeline.slot_at(consumer, p), a.s, n0 + p * STRIP, m0);
#endif
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        mean[h] = over_warp<Sum, 4>(mean[h]) * (1.0f / COLUMNS);
        #pragma unroll
        for (int e = 0; e < COLUMNS / 4; ++e) {
          const float d = c[0][e / 2 * 4 + h * 2 + e % 2] - mean[h];
          spread[h] += d * d;
        }
        spread[h] = over_warp<Sum, 4>(spread[h]);
      }
      // Each warp tells the warps with the same rows; two rooms take turns, for a faster one may be a tile ahead.
      const auto part_of = [&](int which, int h) {
        return base + kPartsAt + 8 * ((turn * CLUSTER + which) * kTileRows + consumer * kWarpgroupRows + row + h * 8);
      };
      if (lane % 4 < 2) {
        const u32 own_part = part_of(block, lane % 4);
        const float own_mean = lane % 4 == 0 ? mean[0] : mean[1], own_spread = lane % 4 == 0 ? spread[0] : spread[1];
        #pragma unroll
        for (int r = 0; r < CLUSTER; ++r)
          asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" 
                       :: "r"(mapa(own_part, r)), "f"(own_mean), "f"(own_spread) : "memory");
      }
      asm volatile("fence.acq_rel.cluster;" ::: "memory");
      __syncwarp();
      const auto tell = [&](int which) {
        mbarrier_arrive_cluster(mapa(met(consumer_warp, turn), which));
      };
      if (ARRIVING_LANES > 1)
        for (int r = 0; r < CLUSTER; ++r) tell(r);
      else if (lane < CLUSTER)
        tell(lane);
      mbarrier_wait_cluster(met(consumer_warp, turn), met_parity);
      float inverse[2];
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        float2 part[CLUSTER];
        float all = 0.f, squares = 0.f;
        #pragma unroll
        for (int r = 0; r < CLUSTER; ++r) part[r] = read_two(part_of(r, h)), all += part[r].x, squares += part[r].y;
        mean[h] = all * (1.0f / CLUSTER);
        #pragma unroll
        for (int r = 0; r < CLUSTER; ++r) squares += COLUMNS * (part[r].x - mean[h]) * (part[r].x - mean[h]);
        inverse[h] = rsqrtf(squares * (1.0f / N) + EPSILON);
      }
      if ((turn ^= 1) == 0) met_parity ^= 1;
#if KEPT
      if (warp == 0 && lane == 0) tma_store_wait<0>();
      named_barrier_sync(1 + consumer, 128);
#endif
      #pragma unroll
      for (int p = 0; p < kStrips; ++p) {
        #pragma unroll
        for (int j = 0; j < STRIP / 8; ++j) {
          const float2 scale = constants_of(0, p, j), bias = constants_of(1, p, j);
          #pragma unroll
          for (int h = 0; h < 2; ++h) {
            const float x = (c[0][(p * STRIP / 8 + j) * 4 + h * 2] - mean[h]) * inverse[h] * scale.x + bias.x;
            const float y = (c[0][(p * STRIP / 8 + j) * 4 + h * 2 + 1] - mean[h]) * inverse[h] * scale.y + bias.y;
            asm volatile("st.shared.b32 [%0], %1;" :: "r"(place_of(p, j) + h * 8 * kStripRow), "r"(pair(x, y)));
          }
        }
        fence_proxy_async();
        named_barrier_sync(1 + consumer, 128);
        if (warp == 0 && lane == 0 && m0 < a.m)
          tma_store_2d(pipeline.slot_at(consumer, p), a.y, n0 + p * STRIP, m0);
      }
#if STAGED
      if (warp == 0 && lane == 0) {
        tma_store_wait<0>();
        for (int p = 0; p < kStrips; ++p) mbarrier_arrive(pipeline.slot_empty(consumer, p));
      }
      slot_parity ^= 1;
#endif
    }
    if (warp == 0 && lane == 0) tma_store_wait<0>();  // shared memory must outlast them
  }
  __syncwarp();
  cluster_sync();   // and what the others write here
}
