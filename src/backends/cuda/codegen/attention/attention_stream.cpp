// The attention kernel whose blocks stay: while all keys of one head are worked on, those of the next come. Keys are taken in parts, so
// that scores fit registers; sums of weights are one more column of the product with the values.
#include "backends/cuda/codegen/attention/attention.h"

namespace tenfold::backends::cuda {
namespace {

// Scores are kept in powers of two: one multiplication less for each.
constexpr const char* kStream = R"(
constexpr int kQueries = 16 * ROW_BLOCKS * WARPS, kThreads = 32 * WARPS;
constexpr int kPitch = SIZE + 8, kValues = (VALUE + 15) / 16 * 16, kValuePitch = kValues + 8;
constexpr int kStage = (KEYS + kQueries) * kPitch + KEYS * kValuePitch;   // elements
constexpr int kMasks = (KEYS + kThreads - 1) / kThreads;
constexpr u32 kOnes = ONES;
// Two weights, rounded as the product takes them. f16 has the digits for the power itself; its large weights keep ten of them.
__device__ __forceinline__ u32 weights(float low, float high) {
#if BF16
  return pair(power_of_2(low), power_of_2(high));
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
    const u16* q = a.q + batch * a.qs[0] + head * a.qs[1] + block_row * a.qs[2];
    fetch<kQueries, SIZE, kPitch, ALIGNED>(value_room + KEYS * kValuePitch, q, a.qs[2], queries - block_row, REAL_SIZE);
    const i64 key_head = head / a.group;
    fetch<KEYS, SIZE, kPitch, ALIGNED>(key_room, a.k + batch * a.ks[0] + key_head * a.ks[1], a.ks[2], keys, REAL_SIZE);
    fetch<KEYS, kValues, kValuePitch, ALIGNED>(value_room, a.v + batch * a.vs[0] + key_head * a.vs[1], a.vs[2], keys, REAL_VALUE);
#if MASK_ROW
    #pragma unroll
    for (int i = 0; i < kMasks; ++i) {
      const int key = i * kThreads + threadIdx.x;
      if (key < keys) ahead[i] = a.mask[batch * a.ms[0] + head * a.ms[1] + key * a.ms[3]];
    }
#endif
  };
  const auto keep_mask = [&](int stage) {
#if MASK_ROW
    #pragma unroll
    for (int i = 0; i < kMasks; ++i) {
      const int key = i * kThreads + threadIdx.x;
      if (key < KEYS) mask_rooms[stage * KEYS + key] = key < keys ? in_powers(LOAD_MASK(ahead[i])) : -INFINITY_F;
    }
#endif
  };
  #pragma unroll 1
  for (int turn = 0;; ++turn) {   // the first one only loads
    const int next = blockIdx.x + turn * gridDim.x, unit = next - gridDim.x, stage = turn + 1 & 1;
    if (turn > 0 && unit >= units) break;
    if (next < units) load(next, stage ^ 1);
    commit();
    if (turn == 0) {
      keep_mask(0);
      continue;
    }
    wait_for<1>();
    __syncthreads();
    const int first = unit % across * kQueries + warp_row, head = unit / across % heads;
    const i64 batch = unit / across / heads;
    const u16 *const key_room = shared + stage * kStage, *const value_room = key_room + KEYS * kPitch;
    const u16* const query_room = value_room + KEYS * kValuePitch;
#if MASKED && !MASK_ROW
    const MASK* mask = a.mask + batch * a.ms[0] + head * a.ms[1];
#endif
    u32 query[ROW_BLOCKS][SIZE / 16][4];
    float out[ROW_BLOCKS][kValues / 8][4] = {}, sum[ROW_BLOCKS][4] = {}, most[ROW_BLOCKS][2];
    #pragma unroll
    for (int i = 0; i < ROW_BLOCKS; ++i) {
      #pragma unroll
      for (int s = 0; s < SIZE / 16; ++s)
        load_matrices(query[i][s], query_room + (warp_row + i * 16 + lane % 16) * kPitch + s * 16 + lane / 16 * 8);
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
          load_matrices(b, key_room + (start + n * 8 + lane / 16 * 8 + lane % 8) * kPitch + s * 16 + lane / 8 % 2 * 8);
          #pragma unroll
          for (int i = 0; i < ROW_BLOCKS; ++i)
            multiply(score[i][n], query[i][s], b[0], b[1]), multiply(score[i][n + 1], query[i][s], b[2], b[3]);
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
              if (key < keys) { const MASK m = mask[row * a.ms[2] + key * a.ms[3]]; x += in_powers(LOAD_MASK(m)); }
              if (key + 1 < keys) { const MASK m = mask[row * a.ms[2] + (key + 1) * a.ms[3]]; y += in_powers(LOAD_MASK(m)); }
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
          const float shrink = power_of_2(most[i][h] - base);
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
          multiply(sum[i], weight[i], kOnes, kOnes);
        }
        #pragma unroll
        for (int n = 0; n < kValues / 8; n += 2) {
          u32 b[4];
          load_transposed4(b, value_room + (start + s * 16 + lane % 16) * kValuePitch + n * 8 + lane / 16 * 8);
          #pragma unroll
          for (int i = 0; i < ROW_BLOCKS; ++i)
            multiply(out[i][n], weight[i], b[0], b[1]), multiply(out[i][n + 1], weight[i], b[2], b[3]);
        }
      }
    }
    #pragma unroll
    for (int ih = 0; ih < 2 * ROW_BLOCKS; ++ih) {
      const int i = ih / 2, h = ih % 2, row = first + i * 16 + group + 8 * h;
      if (row >= queries) continue;
      const float scale = 1.0f / sum[i][2 * h];
      store_row<ALIGNED>(a.y + batch * a.ys[0] + head * a.ys[1] + row * a.ys[2], out[i], h, scale);
    }
    if (next < units) keep_mask(stage ^ 1);
    __syncthreads();   // the copies after the next go where this one read
  }
}
)";

}  // namespace

std::string attention_stream_text() { return kStream; }

}  // namespace tenfold::backends::cuda
