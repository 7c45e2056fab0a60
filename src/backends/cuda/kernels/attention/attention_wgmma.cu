// Attention on Hopper's tensor cores: queries, keys and values come by TMA as they lie, wgmma multiplies them, scores and weights stay in
// registers. Softmax is kept as a running maximum and sum, as in FlashAttention (Dao et al., 2022), unless one step sees all keys (WHOLE).
//
// A block stays and takes one tile of queries (of one head) after the other. It has TEAMS teams of WARPGROUPS consumers, and the last
// warpgroup is the producer: a warp of it for each team. Teams have tiles of their own: while one waits for loads or raises scores to
// powers, another multiplies.
//
//   shared memory of a team, at a multiple of 1024            pipeline of a tile
//   +------------------------------------------+
//   | queries, slot 0: kChunks x kRows x CHUNK |   producer: queries -> queries_full; keys and values of a step -> full
//   | queries, slot 1                          |
//   | stage 0: keys   kChunks x KEYS x CHUNK   |   consumers, for each step of KEYS keys:
//   |          values the same                 |     full -> S = Q K' (wgmma) -> cap, mask, maximum, 2^x -> P in registers
//   | stage 1 .. STAGES - 1                    |     O = P V (wgmma, P from registers) -> empty
//   | masks: KEYS floats for each stage        |     in the last step, once S is there: queries_empty
//   | barriers: full, empty, queries_full,     |
//   |   queries_empty                          |   after the last step: O / sum -> global memory
//   +------------------------------------------+
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/attention/attention_wgmma.cpp prints those of a problem
#define BF16 0
#define MASK u16
#define LOAD_MASK(x) from_f16(x)
#define RESULT u16
#define HEAD_SIZE 64         // a multiple of 8 up to 128
#define CHUNK 64             // columns of a box: 32 or 64
#define SCALE 0.125          // of scores
#define CAPPED 0             // scores have a soft cap
#define CAP 50.0             // a score becomes CAP * tanh(score / CAP)
#define WARPGROUPS 2         // consumers of a team, of 64 queries each
#define TEAMS 2
#define KEYS 128             // of a step
#define STAGES 2
#define REGISTERS 168        // of a consumer's thread
#define ALL_KEYS -1          // how many there are, or -1 where only the run knows
#define WHOLE 0              // one step sees all keys
#define CAUSAL false
#define MASKED 1
#define MASK_ROW 1           // the mask is one row, the same for all queries
#define ZERO_ROWS 0          // a row that sees no key gives zeros, not NaN
#define ARRIVING_LANES 1
__device__ __forceinline__ void wgmma(float (&)[64], u64, u64, int) {}                          // scores
__device__ __forceinline__ void wgmma_values(float (&)[32], const u32 (&)[4], u64, int) {}      // weights times values
#define STORED 0             // results of 16 bits, of e4m3 or of other bytes; of bytes what `epilogue` makes of them
#endif

#include "backends/cuda/kernels/lib/arrivals.cuh"
#include "backends/cuda/kernels/lib/exp2.cuh"
#include "backends/cuda/kernels/lib/mbarrier.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"
#include "backends/cuda/kernels/lib/tma.cuh"
#include "backends/cuda/kernels/lib/wgmma.cuh"
#include "backends/cuda/kernels/attention/attention_wgmma_args.h"
#include "backends/cuda/kernels/attention/attention_wgmma_stores.cuh"
#include "backends/cuda/kernels/attention/row_share.cuh"

constexpr int kRow = CHUNK * 2, kChunks = (HEAD_SIZE + CHUNK - 1) / CHUNK, kRows = 64 * WARPGROUPS;
constexpr int kThreads = 128 * (TEAMS * WARPGROUPS + 1);
constexpr int kQueryChunk = kRows * kRow, kQueryBytes = kChunks * kQueryChunk, kKeyChunk = KEYS * kRow, kKeyBytes = kChunks * kKeyChunk;
constexpr int kStagesAt = 2 * kQueryBytes, kMasksAt = kStagesAt + STAGES * 2 * kKeyBytes, kBarriersAt = kMasksAt + STAGES * KEYS * 4;
constexpr int kTeamBytes = kBarriersAt + 8 * (2 * STAGES + 4) + 1023 & ~1023;
// Scores are kept in powers of two. Without a mask they are scaled as they are raised: one instruction less. A soft cap makes numbers
// between 0 and 1 of them first, which the cap scales: c tanh(s / c) is 2 c sigmoid(2 s / c) - c, and softmax does not see the last c.
constexpr float kScale = (CAPPED ? 2.f * (float)CAP : (float)SCALE) * kLog2, kFactor = MASKED ? 1.f : kScale;
// As TMA leaves a chunk of columns: rows of kRow bytes whose pieces are permuted within groups of eight. `stride`: from one chunk to the
// next, for values, whose columns a product takes across chunks.
__device__ __forceinline__ u64 chunk_descriptor(u32 address, int stride) {
  return (u64)(address >> 4 & 0x3fff) | (u64)(stride >> 4) << 16 | (u64)(8 * kRow >> 4) << 32 | (u64)(CHUNK == 64 ? 1 : 2) << 62;
}
struct Tile {
  int row, head, batch, steps;   // first row of a tile of queries
  __device__ __forceinline__ Tile(const AttentionWgmmaArguments& a, int tile) {
    const int across = (a.queries + kRows - 1) / kRows;
    row = tile % across * kRows, head = tile / across % a.heads, batch = tile / across / a.heads;
    steps = WHOLE ? 1 : (a.keys + KEYS - 1) / KEYS;
    if (CAUSAL && !WHOLE) steps = min(steps, (row + kRows - 1) / KEYS + 1);   // what lies beyond is hidden
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1) attention(const __grid_constant__ AttentionWgmmaArguments a) {
  extern __shared__ u8 shared[];
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32 % 4, 0), warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const bool is_producer = warpgroup == TEAMS * WARPGROUPS;   // of the last warpgroup, a warp for each team
  const int team = is_producer ? warp : warpgroup / WARPGROUPS, consumer = warpgroup % WARPGROUPS;
  const u32 base = (smem_address(shared) + 1023 & ~1023u) + team * kTeamBytes;
  const auto full = [&](int stage) { return base + kBarriersAt + 8 * stage; };
  const auto empty = [&](int stage) { return base + kBarriersAt + 8 * (STAGES + stage); };
  const auto queries_full = [&](int slot) { return base + kBarriersAt + 8 * (2 * STAGES + slot); };
  const auto queries_empty = [&](int slot) { return base + kBarriersAt + 8 * (2 * STAGES + 2 + slot); };
  const int first = blockIdx.x + team * gridDim.x, stride = TEAMS * gridDim.x;
  const int tiles = (a.queries + kRows - 1) / kRows * a.heads * a.batches;
  if (threadIdx.x == 0) prefetch_tensormap(a.q), prefetch_tensormap(a.k), prefetch_tensormap(a.v);
  if (is_producer && lane == 0 && team < TEAMS) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(full(s), MASK_ROW ? 1 + ARRIVING_LANES : 1);
      mbarrier_init(empty(s), 4 * WARPGROUPS * ARRIVING_LANES);
    }
    for (int r = 0; r < 2; ++r) mbarrier_init(queries_full(r), 1), mbarrier_init(queries_empty(r), 4 * WARPGROUPS);
    fence_mbarrier_init();
  }
  __syncthreads();
  enter_persistent();
  int stage = 0, slot = 0;
  u32 parity = 0, slot_parity = 0;
  const auto next_stage = [&] { if (++stage == STAGES) stage = 0, parity ^= 1; };
  const auto next_slot = [&] { slot ^= 1, slot_parity ^= slot == 0; };

  if (is_producer) {   // for queries, keys and values; and prepares the mask
    setmaxnreg_dec<24>();
    if (team >= TEAMS) return;
    for (int tile = first; tile < tiles; tile += stride, next_slot()) {
      const Tile u(a, tile);
      for (int step = 0; step < u.steps; ++step, next_stage()) {
        mbarrier_wait(empty(stage), parity ^ 1);
        if (lane == 0) {
          const u32 to = base + kStagesAt + stage * 2 * kKeyBytes;
          mbarrier_expect_tx(full(stage), 2 * kKeyBytes);
          for (int c = 0; c < kChunks; ++c)
            tma_load_4d(to + c * kKeyChunk, a.k, c * CHUNK, step * KEYS, u.head / a.group, u.batch, full(stage));
          for (int c = 0; c < kChunks; ++c)
            tma_load_4d(to + kKeyBytes + c * kKeyChunk, a.v, c * CHUNK, step * KEYS, u.head / a.group, u.batch, full(stage));
          if (step == 0) {
            mbarrier_wait(queries_empty(slot), slot_parity ^ 1);
            mbarrier_expect_tx(queries_full(slot), kQueryBytes);
            for (int c = 0; c < kChunks; ++c)
              tma_load_4d(base + slot * kQueryBytes + c * kQueryChunk, a.q, c * CHUNK, u.row, u.head, u.batch, queries_full(slot));
          }
        }
#if MASK_ROW
        #pragma unroll
        for (int i = lane; i < KEYS; i += 32) {
          const int key = step * KEYS + i;
          float m = -INFINITY_F;
          if (key < a.keys) {
            const MASK raw = ((const MASK*)a.mask)[u.batch * a.mask_stride[0] + u.head * a.mask_stride[1] + key * a.mask_stride[3]];
            m = LOAD_MASK(raw);
          }
          m = mask_log2(m);
          asm volatile("st.shared.f32 [%0], %1;" :: "r"(base + kMasksAt + (stage * KEYS + i) * 4), "f"(m) : "memory");
        }
        __syncwarp();
        if (arrives(lane)) mbarrier_arrive(full(stage));
#endif
      }
    }
    return;
  }

  setmaxnreg_inc<REGISTERS>();
  const int consumer_row = consumer * 64 + warp * 16 + lane / 4, pairs = lane % 4 * 2;
  for (int tile = first; tile < tiles; tile += stride, next_slot()) {
    const Tile u(a, tile);
    const u32 queries_at = base + slot * kQueryBytes;
    mbarrier_wait(queries_full(slot), slot_parity);
    float out[HEAD_SIZE / 2], most[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
#if !WHOLE
    #pragma unroll
    for (int e = 0; e < HEAD_SIZE / 2; ++e) out[e] = 0.f;
#endif
    #pragma unroll 1
    for (int step = 0; step < u.steps; ++step, next_stage()) {
      const u32 keys_at = base + kStagesAt + stage * 2 * kKeyBytes;
      mbarrier_wait(full(stage), parity);
      const u64 dq = chunk_descriptor(queries_at + consumer * 64 * kRow, 16), dk = chunk_descriptor(keys_at, 16);
      const u64 dv = chunk_descriptor(keys_at + kKeyBytes, kKeyChunk);
      float score[KEYS / 2];
      wgmma_fence();
      #pragma unroll
      for (int s = 0; s < (HEAD_SIZE + 15) / 16; ++s) {
        const int chunk = s / (CHUNK / 16), piece = s % (CHUNK / 16) * 32;
        wgmma(score, dq + (chunk * kQueryChunk + piece) / 16, dk + (chunk * kKeyChunk + piece) / 16, s > 0);
      }
      wgmma_commit_group();
      wgmma_wait_group<0>();
      wgmma_fence_operand(score);
      if (lane == 0 && step + 1 == u.steps) mbarrier_arrive(queries_empty(slot));

      const int start = step * KEYS;
#if CAPPED
      #pragma unroll
      for (int i = 0; i < KEYS / 2; ++i) score[i] = sigmoid_log2(score[i] * (2.f * kLog2 * (float)SCALE / (float)CAP));
#endif
#if MASKED
      #pragma unroll
      for (int n = 0; n < KEYS / 8; ++n) {
#if MASK_ROW
        float2 two;
        const u32 place = base + kMasksAt + (stage * KEYS + n * 8 + pairs) * 4;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(two.x), "=f"(two.y) : "r"(place));
#endif
        #pragma unroll
        for (int e = 0; e < 4; ++e) {
          float& x = score[n * 4 + e];
#if MASK_ROW
          x = fmaf(x, kScale, e % 2 ? two.y : two.x);
#else
          const int row = u.row + consumer_row + e / 2 * 8, key = start + n * 8 + pairs + e % 2;
          float m = 0.f;
          if (row < a.queries && key < a.keys) {
            const MASK raw = ((const MASK*)a.mask)[u.batch * a.mask_stride[0] + u.head * a.mask_stride[1] + row * a.mask_stride[2] +
                                                   key * a.mask_stride[3]];
            m = LOAD_MASK(raw);
          }
          x = fmaf(x, kScale, mask_log2(m));
#endif
        }
      }
#endif
      if (!MASK_ROW && (ALL_KEYS < 0 || ALL_KEYS % KEYS != 0) && start + KEYS > (ALL_KEYS < 0 ? a.keys : ALL_KEYS)) {
        #pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (start + i / 4 * 8 + pairs + i % 2 >= (ALL_KEYS < 0 ? a.keys : ALL_KEYS)) score[i] = -INFINITY_F;
      }
      if (CAUSAL && start + KEYS > u.row + consumer * 64 + warp * 16) {
        #pragma unroll
        for (int i = 0; i < KEYS / 2; ++i)
          if (start + i / 4 * 8 + pairs + i % 2 > u.row + consumer_row + i % 4 / 2 * 8) score[i] = -INFINITY_F;
      }
      float peak[2] = {most[0], most[1]};
      #pragma unroll
      for (int i = 0; i < KEYS / 2; ++i) peak[i % 4 / 2] = fmaxf(peak[i % 4 / 2], score[i]);
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        peak[h] = over_warp<Max, 4>(peak[h]);
        const float base_score = peak[h] == -INFINITY_F ? 0.f : peak[h] * kFactor;   // a row of which nothing is seen has weights of zero
#if !WHOLE
        const float shrink = exp2_approx(most[h] * kFactor - base_score);
        most[h] = peak[h], sum[h] *= shrink;
        #pragma unroll
        for (int e = 0; e < HEAD_SIZE / 4; ++e) out[e / 2 * 4 + h * 2 + e % 2] *= shrink;
#endif
        peak[h] = base_score;
      }
      u32 weight[KEYS / 16][4];
      #pragma unroll
      for (int s = 0; s < KEYS / 16; ++s)
        #pragma unroll
        for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
          const int at = (2 * s + f / 2) * 4 + f % 2 * 2;
          const float x = exp2_approx(fmaf(score[at], kFactor, -peak[f % 2])), y = exp2_approx(fmaf(score[at + 1], kFactor, -peak[f % 2]));
          sum[f % 2] += x + y;
          weight[s][f] = pair(x, y);
        }
      wgmma_fence();
      #pragma unroll
      for (int s = 0; s < KEYS / 16; ++s)
        wgmma_values(out, weight[s], dv + s * kRow, WHOLE ? s > 0 : 1);
      wgmma_commit_group();
      wgmma_wait_group<0>();
      wgmma_fence_operand(out);
      if (MASK_ROW) __syncwarp();   // all have read the mask
      if (arrives(lane)) mbarrier_arrive(empty(stage));
    }
    #pragma unroll
    for (int h = 0; h < 2; ++h) sum[h] = share_of(over_warp<Sum, 4>(sum[h]));
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = u.row + consumer_row + h * 8;
      RESULT* const y = (RESULT*)a.y + u.batch * a.y_stride[0] + u.head * a.y_stride[1] + row * a.y_stride[2];
      const auto two = [&](int n) { return pair_of(out[n * 4 + h * 2] * sum[h], out[n * 4 + h * 2 + 1] * sum[h]); };
      #pragma unroll
      for (int n = 0; n + 4 <= HEAD_SIZE / 8; n += 4) {   // a thread's two columns of four pieces become eight of one
        u32 v[4] = {two(n), two(n + 1), two(n + 2), two(n + 3)};
        transpose_pairs(v, lane);
        if (row < a.queries) put_eight(y + (n + lane % 4) * 8, v);
      }
      #pragma unroll
      for (int n = HEAD_SIZE / 32 * 4; n < HEAD_SIZE / 8; ++n)
        if (row < a.queries) *(decltype(pair_of(0.f, 0.f))*)(y + n * 8 + pairs) = two(n);
    }
  }
}
