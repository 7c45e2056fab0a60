// Attention on tensor cores whose keys lie in shared memory as a whole. Of a head all scores are there at once: one maximum, one sum,
// nothing to correct. Packed sentences are mostly much shorter than the longest: their keys are computed in parts of 32, as many as there
// are, and few registers let many sentences share a multiprocessor. (A block for all queries of a sentence took longer: it ends with the
// longest.) Scores are kept in powers of two: one multiplication less for each.
//
//   shared memory: keys KEYS x kPitch | values KEYS x kValuePitch | queries kQueries x kPitch | mask, KEYS floats
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/attention/attention_head.cpp prints those of a problem
#include "backends/cuda/kernels/attention/attention_defaults.cuh"
#endif

#include "backends/cuda/kernels/attention/fragments.cuh"

constexpr int kQueries = 16 * WARPS, kPitch = SIZE + 8, kValues = (VALUE + 15) / 16 * 16, kValuePitch = kValues + 8;
constexpr int kPart = PACKED ? 32 : KEYS;
template <bool ALIGNED> __device__ __forceinline__ void attend(const Arguments& a) {
  extern __shared__ __align__(16) u16 shared[];
  u16 *const key_room = shared, *const value_room = key_room + KEYS * kPitch, *const query_room = value_room + KEYS * kValuePitch;
  const int lane = threadIdx.x % 32, group = lane / 4, pairs = lane % 4 * 2, warp_row = threadIdx.x / 32 * 16;
  const int block_row = (int)blockIdx.x * kQueries, first = block_row + warp_row;
  if (clears_rest(a)) return;
  const i64 head = blockIdx.y, batch = blockIdx.z;
  const Rows rows = rows_of(a, batch);
  const int queries = rows.queries, keys = rows.keys;
  if (PACKED && block_row >= queries) return;
  const u16* q = a.q + batch * a.q_stride[0] + head * a.q_stride[1] + (rows.begin + block_row) * a.q_stride[2];
  const u16* k = a.k + batch * a.k_stride[0] + head / a.group * a.k_stride[1] + rows.begin * a.k_stride[2];
  const u16* v = a.v + batch * a.v_stride[0] + head / a.group * a.v_stride[1] + rows.begin * a.v_stride[2];
  int parts = PACKED ? (keys + kPart - 1) / kPart : 1;
  const int asked = PACKED ? min(kQueries, (queries - block_row + 15) / 16 * 16) : kQueries;
  fetch<kQueries, SIZE, kPitch, ALIGNED>(query_room, q, a.q_stride[2], queries - block_row, REAL_SIZE, asked);
  fetch<KEYS, SIZE, kPitch, ALIGNED>(key_room, k, a.k_stride[2], keys, REAL_SIZE, parts * kPart);
  if (!PACKED) cp_async_commit_group();
  fetch<KEYS, kValues, kValuePitch, ALIGNED>(value_room, v, a.v_stride[2], keys, REAL_VALUE, parts * kPart);
  cp_async_commit_group();
#if MASKED
  const MASK* mask = a.mask + batch * a.mask_stride[0] + head * a.mask_stride[1];
#endif
#if MASK_ROW || !EXACTLY && !PACKED
  float* const mask_room = (float*)(query_room + kQueries * kPitch);
  for (int i = threadIdx.x; i < KEYS; i += 32 * WARPS) {
    float m = i < keys ? 0.f : -INFINITY_F;
#if MASK_ROW
    if (i < keys) { const MASK e = mask[i * a.mask_stride[3]]; m = mask_log2(LOAD_MASK(e)); }
#endif
    mask_room[i] = m;
  }
#endif
  cp_async_wait_group<PACKED ? 0 : 1>();
  __syncthreads();
  if (PACKED && first >= queries) return;
  if (PACKED && CAUSAL) parts = min(parts, first / kPart + 1);
  u32 query[SIZE / 16][4];
  #pragma unroll
  for (int s = 0; s < SIZE / 16; ++s)
    ldmatrix_x4(query[s], smem_address(query_room + (warp_row + lane % 16) * kPitch + s * 16 + lane / 16 * 8));
  float out[kValues / 8][4] = {}, most[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
  #pragma unroll 1
  for (int part = 0; part < parts; ++part) {
    const u16 *const part_keys = key_room + part * kPart * kPitch, *const part_values = value_room + part * kPart * kValuePitch;
    float score[kPart / 8][4] = {};
    #pragma unroll
    for (int n = 0; n < kPart / 8; n += 2)
      #pragma unroll
      for (int s = 0; s < SIZE / 16; ++s) {
        u32 b[4];   // of keys n * 8 to + 7 and the 8 after them
        ldmatrix_x4(b, smem_address(part_keys + (n * 8 + lane / 16 * 8 + lane % 8) * kPitch + s * 16 + lane / 8 % 2 * 8));
        mma(score[n], query[s], b[0], b[1]);
        mma(score[n + 1], query[s], b[2], b[3]);
      }
    float peak[2] = {most[0], most[1]};
    #pragma unroll
    for (int n = 0; n < kPart / 8; ++n) {
      const int key = part * kPart + n * 8 + pairs;
#if PACKED
      const float2 both = make_float2(key < keys ? 0.f : -INFINITY_F, key + 1 < keys ? 0.f : -INFINITY_F);
#elif MASK_ROW || !EXACTLY
      const float2 both = *(const float2*)(mask_room + key);
#else
      const float2 both = make_float2(0.f, 0.f);
#endif
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = first + group + h * 8;
        float x = score[n][2 * h] * (SCALE * kLog2) + both.x, y = score[n][2 * h + 1] * (SCALE * kLog2) + both.y;
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
        score[n][2 * h] = x, score[n][2 * h + 1] = y;
        peak[h] = fmaxf(peak[h], fmaxf(x, y));
      }
    }
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      peak[h] = over_warp<Max, 4>(peak[h]);
      const float top = peak[h];
      if (!PACKED && top == -INFINITY_F) peak[h] = 0.f;   // a row of which nothing is seen has weights of zero
      const float shrink = part == 0 ? 1.f : exp2_approx(most[h] - peak[h]);   // packed rows see their sentence's first key
      sum[h] *= shrink;
      #pragma unroll
      for (int n = 0; n < kValues / 8; ++n) out[n][2 * h] *= shrink, out[n][2 * h + 1] *= shrink;
      most[h] = top;
    }
    if (!PACKED) {
      cp_async_wait_group<0>();
      __syncthreads();
    }
    #pragma unroll
    for (int s = 0; s < kPart / 16; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
        const int n = 2 * s + f / 2, h = f % 2;
        const float x = exp2_approx(score[n][2 * h] - peak[h]), y = exp2_approx(score[n][2 * h + 1] - peak[h]);
        sum[h] += x + y;
        weight[f] = pair(x, y);
      }
      #pragma unroll
      for (int n = 0; n < kValues / 8; n += 2) {
        u32 b[4];
        ldmatrix_x4_trans(b, smem_address(part_values + (s * 16 + lane % 16) * kValuePitch + n * 8 + lane / 16 * 8));
        mma(out[n], weight, b[0], b[1]);
        mma(out[n + 1], weight, b[2], b[3]);
      }
    }
  }
  store_rows<ALIGNED>(a, rows, head, batch, first, out, sum);
}

#include "backends/cuda/kernels/attention/exports.cuh"
