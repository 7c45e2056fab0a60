// Attention on tensor cores whose blocks stay: while all keys of one head are worked on, those of the next come. Keys are taken in parts,
// so that scores fit registers; sums of weights are one more column of the product with the values. Scores are kept in powers of two: one
// multiplication less for each.
//
//   shared memory: stage 0: keys KEYS x kPitch, values KEYS x kValuePitch, queries kQueries x kPitch | stage 1 | masks, KEYS floats twice
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/attention/attention_head.cpp prints those of a problem
#include "backends/cuda/kernels/attention/attention_defaults.cuh"
#endif

#include "backends/cuda/kernels/attention/fragments.cuh"

constexpr int kQueries = 16 * ROW_BLOCKS * WARPS, kThreads = 32 * WARPS;
constexpr int kPitch = SIZE + 8, kValues = (VALUE + 15) / 16 * 16, kValuePitch = kValues + 8;
constexpr int kStage = (KEYS + kQueries) * kPitch + KEYS * kValuePitch;   // elements
constexpr int kMasks = (KEYS + kThreads - 1) / kThreads;
constexpr u32 kOnes = ONES;
// Two weights, rounded as the product takes them. f16 has the digits for the power itself; its large weights keep ten of them.
__device__ __forceinline__ u32 weights(float low, float high) {
#if BF16
  return pair(exp2_approx(low), exp2_approx(high));
#else
  u32 y;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(y) : "r"(pair(low, high)));
  return y;
#endif
}
template <bool ALIGNED> __device__ __forceinline__ void attend(const Arguments& a) {
  extern __shared__ __align__(16) u16 shared[];
  float* const mask_rooms = (float*)(shared + 2 * kStage);
  const int lane = threadIdx.x % 32, group = lane / 4, pairs = lane % 4 * 2, warp_row = threadIdx.x / 32 * 16 * ROW_BLOCKS;
  const int queries = (int)a.queries, keys = (int)a.keys, across = (queries + kQueries - 1) / kQueries, heads = (int)a.heads;
  const int units = across * heads * (int)a.batches;
  MASK ahead[kMasks];
  const auto load = [&](int unit, int stage) {
    const int block_row = unit % across * kQueries, head = unit / across % heads;
    const i64 batch = unit / across / heads;
    u16 *const key_room = shared + stage * kStage, *const value_room = key_room + KEYS * kPitch;
    const u16* q = a.q + batch * a.q_stride[0] + head * a.q_stride[1] + block_row * a.q_stride[2];
    fetch<kQueries, SIZE, kPitch, ALIGNED>(value_room + KEYS * kValuePitch, q, a.q_stride[2], queries - block_row, REAL_SIZE);
    const i64 key_head = head / a.group;
    const u16* k = a.k + batch * a.k_stride[0] + key_head * a.k_stride[1];
    fetch<KEYS, SIZE, kPitch, ALIGNED>(key_room, k, a.k_stride[2], keys, REAL_SIZE);
    const u16* v = a.v + batch * a.v_stride[0] + key_head * a.v_stride[1];
    fetch<KEYS, kValues, kValuePitch, ALIGNED>(value_room, v, a.v_stride[2], keys, REAL_VALUE);
#if MASK_ROW
    #pragma unroll
    for (int i = 0; i < kMasks; ++i) {
      const int key = i * kThreads + threadIdx.x;
      if (key < keys) ahead[i] = a.mask[batch * a.mask_stride[0] + head * a.mask_stride[1] + key * a.mask_stride[3]];
    }
#endif
  };
  const auto keep_mask = [&](int stage) {
#if MASK_ROW
    #pragma unroll
    for (int i = 0; i < kMasks; ++i) {
      const int key = i * kThreads + threadIdx.x;
      if (key < KEYS) mask_rooms[stage * KEYS + key] = key < keys ? mask_log2(LOAD_MASK(ahead[i])) : -INFINITY_F;
    }
#endif
  };
  #pragma unroll 1
  for (int turn = 0;; ++turn) {   // the first one only loads
    const int next = blockIdx.x + turn * gridDim.x, unit = next - gridDim.x, stage = turn + 1 & 1;
    if (turn > 0 && unit >= units) break;
    if (next < units) load(next, stage ^ 1);
    cp_async_commit_group();
    if (turn == 0) {
      keep_mask(0);
      continue;
    }
    cp_async_wait_group<1>();
    __syncthreads();
    const int first = unit % across * kQueries + warp_row, head = unit / across % heads;
    const i64 batch = unit / across / heads;
    const u16 *const key_room = shared + stage * kStage, *const value_room = key_room + KEYS * kPitch;
    const u16* const query_room = value_room + KEYS * kValuePitch;
#if MASKED && !MASK_ROW
    const MASK* mask = a.mask + batch * a.mask_stride[0] + head * a.mask_stride[1];
#endif
    u32 query[ROW_BLOCKS][SIZE / 16][4];
    float out[ROW_BLOCKS][kValues / 8][4] = {}, sum[ROW_BLOCKS][4] = {}, most[ROW_BLOCKS][2];
    #pragma unroll
    for (int i = 0; i < ROW_BLOCKS; ++i) {
      #pragma unroll
      for (int s = 0; s < SIZE / 16; ++s)
        ldmatrix_x4(query[i][s], smem_address(query_room + (warp_row + i * 16 + lane % 16) * kPitch + s * 16 + lane / 16 * 8));
      most[i][0] = most[i][1] = -INFINITY_F;
    }
    #pragma unroll 1
    for (int start = 0; start < KEYS; start += PART) {
      float score[ROW_BLOCKS][PART / 8][4];
      #pragma unroll
      for (int n = 0; n < PART / 8; n += 2) {
        #pragma unroll
        for (int i = 0; i < ROW_BLOCKS; ++i)
          #pragma unroll
          for (int f = 0; f < 4; ++f) score[i][n][f] = score[i][n + 1][f] = 0.f;
        #pragma unroll
        for (int s = 0; s < SIZE / 16; ++s) {
          u32 b[4];   // of keys n * 8 to + 7 and the 8 after them
          ldmatrix_x4(b, smem_address(key_room + (start + n * 8 + lane / 16 * 8 + lane % 8) * kPitch + s * 16 + lane / 8 % 2 * 8));
          #pragma unroll
          for (int i = 0; i < ROW_BLOCKS; ++i)
            mma(score[i][n], query[i][s], b[0], b[1]), mma(score[i][n + 1], query[i][s], b[2], b[3]);
        }
      }
      float peak[ROW_BLOCKS][2];
      #pragma unroll
      for (int i = 0; i < ROW_BLOCKS; ++i) peak[i][0] = most[i][0], peak[i][1] = most[i][1];
      #pragma unroll
      for (int n = 0; n < PART / 8; ++n) {
        const int key = start + n * 8 + pairs;
#if MASK_ROW
        const float2 both = *(const float2*)(mask_rooms + stage * KEYS + key);
#elif EXACTLY
        const float2 both = make_float2(0.f, 0.f);
#else
        const float2 both = make_float2(key < keys ? 0.f : -INFINITY_F, key + 1 < keys ? 0.f : -INFINITY_F);
#endif
        #pragma unroll
        for (int i = 0; i < ROW_BLOCKS; ++i)
          #pragma unroll
          for (int h = 0; h < 2; ++h) {
            const int row = first + i * 16 + group + h * 8;
            float x = score[i][n][2 * h] * (SCALE * kLog2) + both.x, y = score[i][n][2 * h + 1] * (SCALE * kLog2) + both.y;
#if MASKED && !MASK_ROW
            if (row < queries) {
              if (key < keys) {
                const MASK m = mask[row * a.mask_stride[2] + key * a.mask_stride[3]];
                x += mask_log2(LOAD_MASK(m));
              }
              if (key + 1 < keys) {
                const MASK m = mask[row * a.mask_stride[2] + (key + 1) * a.mask_stride[3]];
                y += mask_log2(LOAD_MASK(m));
              }
            }
#endif
            if (CAUSAL && key > row) x = -INFINITY_F;
            if (CAUSAL && key + 1 > row) y = -INFINITY_F;
            score[i][n][2 * h] = x, score[i][n][2 * h + 1] = y;
            peak[i][h] = fmaxf(peak[i][h], fmaxf(x, y));
          }
      }
      #pragma unroll
      for (int i = 0; i < ROW_BLOCKS; ++i)
        #pragma unroll
        for (int h = 0; h < 2; ++h) {
          float& top = peak[i][h];
          top = over_warp<Max, 4>(top);
          const float base = top == -INFINITY_F ? 0.f : top;   // a row of which nothing is seen has weights of zero
          const float shrink = exp2_approx(most[i][h] - base);
          most[i][h] = top, top = base;
          sum[i][2 * h] *= shrink;
          #pragma unroll
          for (int n = 0; n < kValues / 8; ++n) { out[i][n][2 * h] *= shrink; out[i][n][2 * h + 1] *= shrink; }
        }
      #pragma unroll
      for (int s = 0; s < PART / 16; ++s) {
        u32 weight[ROW_BLOCKS][4];
        #pragma unroll
        for (int i = 0; i < ROW_BLOCKS; ++i) {
          #pragma unroll
          for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
            const int n = 2 * s + f / 2, h = f % 2;
            weight[i][f] = weights(score[i][n][2 * h] - peak[i][h], score[i][n][2 * h + 1] - peak[i][h]);
          }
          mma(sum[i], weight[i], kOnes, kOnes);
        }
        #pragma unroll
        for (int n = 0; n < kValues / 8; n += 2) {
          u32 b[4];
          ldmatrix_x4_trans(b, smem_address(value_room + (start + s * 16 + lane % 16) * kValuePitch + n * 8 + lane / 16 * 8));
          #pragma unroll
          for (int i = 0; i < ROW_BLOCKS; ++i)
            mma(out[i][n], weight[i], b[0], b[1]), mma(out[i][n + 1], weight[i], b[2], b[3]);
        }
      }
    }
    #pragma unroll
    for (int ih = 0; ih < 2 * ROW_BLOCKS; ++ih) {
      const int i = ih / 2, h = ih % 2, row = first + i * 16 + group + 8 * h;
      if (row >= queries) continue;
      const float scale = share_of(sum[i][2 * h]);
      store_row<ALIGNED>(a.y + batch * a.y_stride[0] + head * a.y_stride[1] + row * a.y_stride[2], out[i], h, scale);
    }
    if (next < units) keep_mask(stage ^ 1);
    __syncthreads();   // the copies after the next go where this one read
  }
}

#include "backends/cuda/kernels/attention/exports.cuh"
