// Attention on tensor cores whose keys pass in steps: softmax is kept as a running maximum and sum, as in FlashAttention (Dao et al.,
// 2022). Keys, values and the mask's tile of one step are copied while the step before is computed.
//
//   shared memory: stage 0: keys KEYS x kSizePitch, values KEYS x kValuePitch, mask kQueries x kMaskPitch | stage 1 | queries
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/attention/attention_head.cpp prints those of a problem
#include "backends/cuda/kernels/attention/attention_defaults.cuh"
#endif

#include "backends/cuda/kernels/attention/fragments.cuh"
#include "backends/cuda/kernels/attention/fragments_e4m3.cuh"

constexpr int kQueries = 16 * WARPS, kSizePitch = SIZE + kPiece, kValuePitch = VALUE_STORED + kPiece, kMaskPitch = KEYS + 8;
constexpr int kStage = KEYS * kSizePitch + KEYS * kValuePitch + (MASK_TILES ? kQueries * kMaskPitch : 0);   // elements
template <bool ALIGNED> __device__ __forceinline__ void attend(const Arguments& a) {
  extern __shared__ __align__(16) T shared[];
  const int lane = threadIdx.x % 32, group = lane / 4, pairs = lane % 4 * 2, warp_row = threadIdx.x / 32 * 16;
  const int block_row = (int)blockIdx.x * kQueries, first = block_row + warp_row;
  if (clears_rest(a)) return;
  const i64 head = blockIdx.y, batch = blockIdx.z;
  const Rows rows = rows_of(a, batch);
  const int queries = rows.queries, keys = rows.keys;
  if (PACKED && block_row >= queries) return;
  const T* q = a.q + batch * a.q_stride[0] + head * a.q_stride[1] + (rows.begin + block_row) * a.q_stride[2];
  const T* k = a.k + batch * a.k_stride[0] + head / a.group * a.k_stride[1] + rows.begin * a.k_stride[2];
  const T* v = a.v + batch * a.v_stride[0] + head / a.group * a.v_stride[1] + rows.begin * a.v_stride[2];
#if MASKED
  const MASK* mask = a.mask + batch * a.mask_stride[0] + head * a.mask_stride[1];
#endif
  T* const query_room = shared + 2 * kStage;
  const auto load = [&](int step) {
    const int start = step * KEYS, count = min(KEYS, keys - start);
    T* stage = shared + step % 2 * kStage;
    fetch<KEYS, SIZE, kSizePitch, ALIGNED>(stage, k + start * a.k_stride[2], a.k_stride[2], count, REAL_SIZE);
    fetch<KEYS, VALUE_STORED, kValuePitch, ALIGNED>(stage + KEYS * kSizePitch, v + start * a.v_stride[2], a.v_stride[2], count, REAL_VALUE);
#if MASK_TILES
    fetch<kQueries, KEYS, kMaskPitch, ALIGNED>(stage + KEYS * (kSizePitch + kValuePitch),
                                               (const T*)mask + block_row * a.mask_stride[2] + start, a.mask_stride[2],
                                               queries - block_row, count);
#endif
  };
  const int steps = (keys + KEYS - 1) / KEYS;
  fetch<kQueries, SIZE, kSizePitch, ALIGNED>(query_room, q, a.q_stride[2], queries - block_row, REAL_SIZE);
  load(0);
  cp_async_commit_group();
  u32 query[SIZE / DEPTH][4];
  float out[VALUE / 8][4] = {}, most[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
#if MMA_BITS == 8
  float all[4] = {};   // of a row's weights, in every column
#endif
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) load(step + 1);
    cp_async_commit_group();
    cp_async_wait_group<1>();
    __syncthreads();
    if (step == 0) {
      #pragma unroll
      for (int s = 0; s < SIZE / DEPTH; ++s) {
        ldmatrix_x4(query[s], smem_address(query_room + (warp_row + lane % 16) * kSizePitch + s * DEPTH + lane / 16 * kPiece));
#if TF32
        #pragma unroll
        for (int f = 0; f < 4; ++f) query[s][f] = to_tf32(query[s][f]);
#endif
      }
    }
    const T* stage = shared + step % 2 * kStage;
    const T* values = stage + KEYS * kSizePitch;
    const int start = step * KEYS;
    float score[KEYS / 8][4];
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n) {
      #pragma unroll
      for (int f = 0; f < 4; ++f) score[n][f] = 0.f;
      #pragma unroll
      for (int s = 0; s < SIZE / DEPTH; ++s) {
        const T* row = stage + (n * 8 + group) * kSizePitch + s * DEPTH + lane % 4 * (4 / sizeof(T));
        mma(score[n], query[s], fragment(row), fragment(row + kPiece));
      }
    }
    const bool whole = start + KEYS <= keys;
    float peak[2] = {most[0], most[1]};
    #pragma unroll
    for (int n = 0; n < KEYS / 8; ++n)
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int key = start + n * 8 + pairs, row = first + group + h * 8;
        float x = score[n][2 * h] * SCALE, y = score[n][2 * h + 1] * SCALE;
#if MASK_TILES
        const u32 two = *(const u32*)(stage + KEYS * (kSizePitch + kValuePitch) + (warp_row + group + h * 8) * kMaskPitch + n * 8 + pairs);
        x += LOAD_MASK((u16)two), y += LOAD_MASK((u16)(two >> 16));
#elif MASKED
        if (row < queries) {
          if (key < keys) {
            const MASK m = mask[row * a.mask_stride[2] + key * a.mask_stride[3]];
            x += LOAD_MASK(m);
          }
          if (key + 1 < keys) {
            const MASK m = mask[row * a.mask_stride[2] + (key + 1) * a.mask_stride[3]];
            y += LOAD_MASK(m);
          }
        }
#endif
        if ((!whole && key >= keys) || (CAUSAL && key > row)) x = -INFINITY_F;
        if ((!whole && key + 1 >= keys) || (CAUSAL && key + 1 > row)) y = -INFINITY_F;
        score[n][2 * h] = x, score[n][2 * h + 1] = y;
        peak[h] = fmaxf(peak[h], fmaxf(x, y));
      }
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      peak[h] = over_warp<Max, 4>(peak[h]);
      const float shrink = peak[h] == -INFINITY_F ? 1.f : __expf(most[h] - peak[h]);   // nothing seen yet: nothing to shrink
#if MMA_BITS == 8
      all[2 * h] *= shrink;
#else
      sum[h] *= shrink;
#endif
      #pragma unroll
      for (int n = 0; n < VALUE / 8; ++n) { out[n][2 * h] *= shrink; out[n][2 * h + 1] *= shrink; }
      most[h] = peak[h];
    }
#if TF32
    // Keys are added up in another order than they lie: a thread's own weights are those of keys 2(t%4) and the next.
    #pragma unroll
    for (int s = 0; s < KEYS / 8; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // rows group and group + 8, of the first key, then of the next
        const int h = f % 2;
        const float x = __expf(score[s][2 * h + f / 2] - (most[h] == -INFINITY_F ? 0.f : most[h]));
        sum[h] += x;
        weight[f] = to_tf32(__float_as_uint(x));
      }
      #pragma unroll
      for (int n = 0; n < VALUE / 8; ++n) {
        const T* value = values + (s * 8 + pairs) * kValuePitch + n * 8 + group;
        mma(out[n], weight, fragment(value), fragment(value + kValuePitch));
      }
    }
#elif MMA_BITS == 8
    // Keys are added up in another order than they lie, again: of 16 a thread has its own two of each eight side by side.
    #pragma unroll
    for (int s = 0; s < KEYS / 32; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // of the first two and the last two of four blocks of 8 keys, rows group and group + 8
        const int n = 4 * s + f / 2 * 2, h = f % 2;
        const float base = (most[h] == -INFINITY_F ? 0.f : most[h]) - kWeightsReach;
        weight[f] = four_of(__expf(score[n][2 * h] - base), __expf(score[n][2 * h + 1] - base), __expf(score[n + 1][2 * h] - base),
                            __expf(score[n + 1][2 * h + 1] - base));
      }
      mma(all, weight, ONES, ONES);
      #pragma unroll
      for (int n = 0; n < VALUE / 8; n += 2) {
        u32 b[4];   // of each eight keys two, of two columns side by side
        ldmatrix_x4_trans(b, smem_address(values + (s * 32 + lane) * kValuePitch + n * 8));
        mma(out[n], weight, __byte_perm(b[0], b[1], 0x6420), __byte_perm(b[2], b[3], 0x6420));
        mma(out[n + 1], weight, __byte_perm(b[0], b[1], 0x7531), __byte_perm(b[2], b[3], 0x7531));
      }
    }
#else
    #pragma unroll
    for (int s = 0; s < KEYS / 16; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
        const int n = 2 * s + f / 2, h = f % 2;
        const float base = most[h] == -INFINITY_F ? 0.f : most[h];   // a row of which nothing is seen has weights of zero
        const float x = __expf(score[n][2 * h] - base), y = __expf(score[n][2 * h + 1] - base);
        sum[h] += x + y;
        weight[f] = pair(x, y);
      }
      #pragma unroll
      for (int n = 0; n < VALUE / 8; ++n) {
        u32 b0, b1;
        ldmatrix_x2_trans(b0, b1, smem_address(values + (s * 16 + lane % 16) * kValuePitch + n * 8));
        mma(out[n], weight, b0, b1);
      }
    }
#endif
    __syncthreads();   // the next step's copies go where this one read
  }
#if MMA_BITS == 8
  store_fours<ALIGNED>(a, rows, head, batch, first, out, all);
#else
  store_rows<ALIGNED>(a, rows, head, batch, first, out, sum);
#endif
}

#include "backends/cuda/kernels/attention/exports.cuh"
