// Products and convolutions on Hopper's tensor cores: y[m, n] = epilogue(sum over k of a[m, k] * b[n, k]).
//
// A block stays on its multiprocessor and takes tile after tile. Warpgroup 0 is the producer: one thread loads tiles of a and b by TMA, a
// second one what the epilogue reads (r). All other warpgroups are consumers: they multiply, compute the epilogue and store by TMA.
//
//   shared memory, from a multiple of 1024                       pipeline of a tile (s = STAGES stages, P = strips)
//   +--------------------------------------------+
//   | stage 0: a  kTileRows x ROW_BYTES          |                producer: k0  k1  k2 ..       (waits for empty, arms full)
//   |          b  COLUMNS   x ROW_BYTES          |   full[s] ->   TMA       |   |   |
//   | stage 1 .. STAGES - 1                      |   empty[s] <-  consumers: wgmma k0, k1, ..   (wait for full; arrive on empty of
//   +--------------------------------------------+                                               the step before once it has ended)
//   | slots: for each consumer SLOTS strips of   |   slot_full -> r comes (STAGED)
//   |        kWarpgroupRows x STRIP results      |                epilogue P0, P1, ..: registers -> slot -> TMA store
//   +--------------------------------------------+   slot_empty <- the store has read the slot
//   | barriers: full, empty, slot_full, .._empty |
//   +--------------------------------------------+
//
// With ALTERNATE each consumer has tiles of its own, and they take turns at the tensor cores (named barriers 4, 5, ..): one stores while
// the other multiplies ("ping-pong"); else all consumers share a tile, each with kWarpgroupRows rows ("cooperative").
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/gemm/gemm_wgmma.cpp prints those of a problem
#define OUT u16              // a result in memory
#define RESULT float         // and as it is computed
#define SUM float            // float or int
#define SMALL_SUMS 0         // of integers: their magnitude stays below 2^22, and the epilogue takes floats
#define BF16 0
#define STORED 0             // results of 16 bits, e4m3, other bytes, f32, integers of 32 bits, bytes that floats are rounded to
#define N 256
#define ROW_BYTES 128        // of a tile's row, or 64
#define kSteps 4             // of that many bytes along k
#define BLOCKS 1             // of 64 rows, that a consumer multiplies by one instruction each
#define COLUMNS 128          // of a tile
#define WARPGROUPS 2         // consumers
#define ALTERNATE 0
#define STAGES 4
#define SLOTS 2
#define STRIP 64             // columns that are stored at once
#define STAGED 0             // the epilogue reads a tensor of the results' shape, which comes by TMA
#define STAGED_AS u16        // its elements, which are as large as OUT
#define MOMENTS 0            // a.parts gets sum and sum of squares of each row of a tile
#define PREPARE_A                                             // what LOAD_A needs to know of a tile
#define LOAD_A tma_load_2d(stage_a, a.a, k * 64, (int)m0, full_barrier);
#define LOAD_B tma_load_2d(stage_b, a.b, k * 64, n0, full_barrier);
#define LOAD_ROW_OPERANDS                                     // operands of the epilogue, to registers before the sums are there
#define LOAD_COLUMN_OPERANDS
#define SHARE_COLUMN_OPERANDS
#define EPILOGUE y[0] = sum[0], y[1] = sum[1];                // sum[2] at row m, columns n and n + 1
#define PUT put                                               // of y to the slot
__device__ __forceinline__ void wgmma(float (&)[64], u64, u64, int) {}
#endif

#include "backends/cuda/kernels/gemm/gemm_wgmma_pipeline.cuh"
#include "backends/cuda/kernels/gemm/gemm_wgmma_strips.cuh"

constexpr int kWarpgroupRows = 64 * BLOCKS, kTileRows = ALTERNATE ? kWarpgroupRows : kWarpgroupRows * WARPGROUPS;
constexpr int kThreads = 128 * (WARPGROUPS + 1);
constexpr int kStrips = COLUMNS / STRIP, kStripRow = STRIP * sizeof(OUT), kAcross = (N + COLUMNS - 1) / COLUMNS;
constexpr int kShared = ALTERNATE ? 1 : WARPGROUPS;   // consumers of a tile

struct Shape {
  enum : int {
    stages = STAGES, steps = kSteps, rows = kTileRows, columns = COLUMNS, row_bytes = ROW_BYTES,
    consumers = WARPGROUPS, slots = SLOTS, slot_bytes = kWarpgroupRows * kStripRow
  };
};
typedef WgmmaPipeline<Shape> Pipeline;

__device__ __forceinline__ u32 of_lane(u32 x, int lane) { return __shfl_sync(~0u, x, lane); }
__device__ __forceinline__ float of_lane(float x, int lane) { return __shfl_sync(~0u, x, lane); }

extern "C" __global__ void __launch_bounds__(kThreads, 1) gemm(const __grid_constant__ WgmmaArguments a) {
  extern __shared__ u8 shared[];
  const u32 base = smem_address(shared) + 1023 & ~1023u;
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0);
  const Pipeline pipeline{base};
  const int tiles = (int)((a.m + kTileRows - 1) / kTileRows) * kAcross;
  if (threadIdx.x == 0) {
    pipeline.init(a, 4 * kShared);
    fence_mbarrier_init();
    const int n0 = blockIdx.x % kAcross * COLUMNS;
    for (int k = 0; k < Pipeline::kAhead; ++k) {
      const u32 stage_b = pipeline.stage_b(k), full_barrier = pipeline.full(k);
      pipeline.expect(k);
      LOAD_B
    }
  }
  __syncthreads();
  // What the kernel before wrote is there from here on, if this one was started early; the next one may be.
  enter_persistent();

  if (warpgroup == 0) {
    setmaxnreg_dec<Pipeline::kProducerRegisters>();
    if (warp == 0 && lane == 0) {  // the producer of a and b
      int stage = 0;
      u32 parity = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int n0 = tile % kAcross * COLUMNS;
        const i64 m0 = (i64)(tile / kAcross) * kTileRows;
        PREPARE_A
        for (int k = 0; k < kSteps; ++k) {
          const u32 stage_a = pipeline.stage_a(stage), stage_b = pipeline.stage_b(stage), full_barrier = pipeline.full(stage);
          if (k >= Pipeline::kAhead || tile != blockIdx.x) {
            pipeline.refill(stage, parity);
            LOAD_B
          }
          LOAD_A
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      }
    }
#if STAGED
    if (warp == 1 && lane == 0) {  // the producer of what the epilogue reads
      int slot[WARPGROUPS] = {};
      u32 parity[WARPGROUPS] = {};
      int turn = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int n0 = tile % kAcross * COLUMNS;
        const int m0 = tile / kAcross * kTileRows;
        #pragma unroll
        for (int p = 0; p < kStrips; ++p)
          #pragma unroll
          for (int g = 0; g < WARPGROUPS; ++g) {
            if (ALTERNATE && g != turn) continue;
            pipeline.refill_slot(g, slot[g], parity[g]);
            tma_load_2d(pipeline.slot_at(g, slot[g]), a.r, n0 + p * STRIP, m0 + (ALTERNATE ? 0 : g * kWarpgroupRows),
                        pipeline.slot_full(g, slot[g]));
            if (++slot[g] == SLOTS) slot[g] = 0, parity[g] ^= 1;
          }
        if (++turn == WARPGROUPS) turn = 0;
      }
    }
#endif
  } else {
    setmaxnreg_inc<Pipeline::kConsumerRegisters>();
    const int consumer = warpgroup - 1;
    int stage = ALTERNATE ? consumer * kSteps % STAGES : 0, slot = 0;
    u32 parity = ALTERNATE ? consumer * kSteps / STAGES & 1 : 0, slot_parity = 0;
    const auto release = [&](int s) {
      if (lane == 0) mbarrier_arrive(pipeline.empty(s));
    };
    if (ALTERNATE && consumer == WARPGROUPS - 1) named_barrier_arrive(4, 256);  // the first warpgroup may begin
    for (int tile = blockIdx.x + (ALTERNATE ? consumer * gridDim.x : 0); tile < tiles; tile += (ALTERNATE ? WARPGROUPS : 1) * gridDim.x) {
      SUM c[BLOCKS][COLUMNS / 2];
      const int n0 = tile % kAcross * COLUMNS, row = warp * 16 + lane / 4;
      const i64 m0 = (i64)(tile / kAcross) * kTileRows + (ALTERNATE ? 0 : consumer * kWarpgroupRows);
      LOAD_ROW_OPERANDS
      LOAD_COLUMN_OPERANDS
      if (ALTERNATE) named_barrier_sync(4 + consumer, 256);
      int previous = 0;
      for (int k = 0; k < kSteps; ++k) {
        pipeline.multiply(stage, parity, ALTERNATE ? 0 : consumer * kWarpgroupRows, c, k);
        if (k > 0) {
          wgmma_wait_group<1>();
          release(previous);
        }
        previous = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      if (ALTERNATE) named_barrier_arrive(4 + (consumer + 1) % WARPGROUPS, 256);
      wgmma_wait_group<0>();
      release(previous);
      if (ALTERNATE) {  // the other consumers' tiles
        stage += (WARPGROUPS - 1) * kSteps;
        parity ^= stage / STAGES & 1;
        stage %= STAGES;
      }
      #pragma unroll
      for (int i = 0; i < BLOCKS; ++i) wgmma_fence_operand(c[i]);

#if MOMENTS
      float total[BLOCKS][2] = {}, squares[BLOCKS][2] = {};
#endif
      #pragma unroll
      for (int p = 0; p < kStrips; ++p) {
        const u32 strip = pipeline.slot_at(consumer, slot);
#if STAGED
        mbarrier_wait(pipeline.slot_full(consumer, slot), slot_parity);
#else
        if (warp == 0 && lane == 0) tma_store_wait<SLOTS - 1>();
        named_barrier_sync(1 + consumer, 128);
#endif
        const auto piece_of = [&](int j) {
          const u32 at = (j * 8 + lane % 4 * 2) * sizeof(OUT);
          return strip + row * kStripRow + ((at >> 4 ^ row * kStripRow / 128 & kStripRow / 16 - 1) << 4) + (at & 15);
        };
#if STAGED
        OUT staged[2][BLOCKS][2][2];   // read one step ahead: reading and writing shared memory keep their order
        const auto read_ahead = [&](int j) {
          #pragma unroll
          for (int i = 0; i < BLOCKS; ++i)
            #pragma unroll
            for (int h = 0; h < 2; ++h) get(piece_of(j) + (i * 64 + h * 8) * kStripRow, staged[j % 2][i][h]);
        };
        read_ahead(0);
#endif
        #pragma unroll
        for (int j = 0; j < STRIP / 8; ++j) {
          const int column = n0 + p * STRIP + j * 8 + lane % 4 * 2, n = N % COLUMNS == 0 || column < N ? column : N - 2;
          const int two = p * STRIP / 2 + j * 4;   // the pair of columns that the warp's first lane has
          const u32 piece = piece_of(j);
          SHARE_COLUMN_OPERANDS
#if STAGED
          if (j + 1 < STRIP / 8) read_ahead(j + 1);
#endif
          #pragma unroll
          for (int i = 0; i < BLOCKS; ++i)
            #pragma unroll
            for (int h = 0; h < 2; ++h) {
              const u32 place = piece + (i * 64 + h * 8) * kStripRow;
              const i64 m = min(m0 + i * 64 + h * 8 + row, a.m - 1);
              const SUM* const sums = &c[i][(p * STRIP / 8 + j) * 4 + h * 2];
#if SMALL_SUMS
              const float sum[2] = {of_small(sums[0]), of_small(sums[1])};
#else
              const SUM sum[2] = {sums[0], sums[1]};
#endif
#if STAGED
              const auto read_staged = [&](STAGED_AS (&x)[2]) { x[0] = staged[j % 2][i][h][0], x[1] = staged[j % 2][i][h][1]; };
#endif
              RESULT y[2];
              EPILOGUE
              PUT(place, y[0], y[1]);
#if MOMENTS
              total[i][h] += y[0] + y[1], squares[i][h] += y[0] * y[0], squares[i][h] += y[1] * y[1];
#endif
            }
        }
        fence_proxy_async();
        named_barrier_sync(1 + consumer, 128);
        if (warp == 0 && lane == 0) {
          if (m0 < a.m) tma_store_2d(strip, a.y, n0 + p * STRIP, (int)m0);
#if STAGED
          if (SLOTS > 1 && p > 0) {
            tma_store_wait<1>();
            mbarrier_arrive(pipeline.slot_empty(consumer, (slot + SLOTS - 1) % SLOTS));
          }
          if (p == kStrips - 1 || SLOTS == 1) {
            tma_store_wait<0>();
            mbarrier_arrive(pipeline.slot_empty(consumer, slot));
          }
#endif
        }
        if (++slot == SLOTS) slot = 0, slot_parity ^= 1;
      }
#if MOMENTS
      #pragma unroll
      for (int i = 0; i < BLOCKS; ++i)
        #pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float2 part = make_float2(over_warp<Sum, 4>(total[i][h]), over_warp<Sum, 4>(squares[i][h]));
          const i64 m = m0 + i * 64 + h * 8 + row;
          if (lane % 4 == 0 && m < a.m) ((float2*)a.parts)[tile % kAcross * a.m + m] = part;
        }
#endif
    }
    if (warp == 0 && lane == 0) tma_store_wait<0>();  // shared memory must outlast them
  }
}
