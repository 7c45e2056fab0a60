// The attention kernel for packed sentences that fit in shared memory. Most are much shorter than the longest: keys are computed in parts
// of 32, as many as there are, and few registers let many sentences share a multiprocessor. (A block for all queries of a sentence took
// longer: it ends with the longest.)
#include "backends/cuda/codegen/attention.h"

namespace tenfold::backends::cuda {
namespace {

// Scores are kept in powers of two: one multiplication less for each.
constexpr const char* kPacked = R"(
constexpr int kQueries = 16 * WARPS, kPitch = SIZE + 8, kValues = (VALUE + 15) / 16 * 16, kValuePitch = kValues + 8, kPart = 32;
template <bool ALIGNED> __device__ __forceinline__ void attend(const Arguments& a) {
  extern __shared__ __align__(16) u16 shared[];
  u16 *const key_room = shared, *const value_room = key_room + KEYS * kPitch, *const query_room = value_room + KEYS * kValuePitch;
  const int lane = threadIdx.x % 32, group = lane / 4, pairs = lane % 4 * 2, warp_row = threadIdx.x / 32 * 16;
  const int block_row = (int)blockIdx.x * kQueries, first = block_row + warp_row;
  if (clears_rest(a)) return;
  const i64 head = blockIdx.y, batch = blockIdx.z;
  const Rows rows = rows_of(a, batch);
  const int keys = rows.keys;
  if (block_row >= keys) return;
  const u16* q = a.q + batch * a.qs[0] + head * a.qs[1] + (rows.begin + block_row) * a.qs[2];
  const u16* k = a.k + batch * a.ks[0] + head / a.group * a.ks[1] + rows.begin * a.ks[2];
  const u16* v = a.v + batch * a.vs[0] + head / a.group * a.vs[1] + rows.begin * a.vs[2];
  const int parts = (keys + kPart - 1) / kPart, asked = min(kQueries, (keys - block_row + 15) / 16 * 16);
  fetch<kQueries, SIZE, kPitch, ALIGNED>(query_room, q, a.qs[2], keys - block_row, REAL_SIZE, asked);
  fetch<KEYS, SIZE, kPitch, ALIGNED>(key_room, k, a.ks[2], keys, REAL_SIZE, parts * kPart);
  fetch<KEYS, kValues, kValuePitch, ALIGNED>(value_room, v, a.vs[2], keys, REAL_VALUE, parts * kPart);
  commit();
  wait_for<0>();
  __syncthreads();
  if (first >= keys) return;
  u32 query[SIZE / 16][4];
  #pragma unroll
  for (int s = 0; s < SIZE / 16; ++s) load_matrices(query[s], query_room + (warp_row + lane % 16) * kPitch + s * 16 + lane / 16 * 8);
  float out[kValues / 8][4] = {}, most[2] = {-INFINITY_F, -INFINITY_F}, sum[2] = {0.f, 0.f};
  #pragma unroll 1
  for (int part = 0; part < (CAUSAL ? min(parts, first / kPart + 1) : parts); ++part) {
    const u16 *const part_keys = key_room + part * kPart * kPitch, *const part_values = value_room + part * kPart * kValuePitch;
    float score[kPart / 8][4] = {};
    #pragma unroll
    for (int n = 0; n < kPart / 8; n += 2)
      #pragma unroll
      for (int s = 0; s < SIZE / 16; ++s) {
        u32 b[4];   // of keys n * 8 to + 7 and the 8 after them
        load_matrices(b, part_keys + (n * 8 + lane / 16 * 8 + lane % 8) * kPitch + s * 16 + lane / 8 % 2 * 8);
        multiply(score[n], query[s], b[0], b[1]);
        multiply(score[n + 1], query[s], b[2], b[3]);
      }
    float peak[2] = {most[0], most[1]};
    #pragma unroll
    for (int n = 0; n < kPart / 8; ++n)
      #pragma unroll
      for (int f = 0; f < 4; ++f) {
        const int key = part * kPart + n * 8 + pairs + f % 2, row = first + group + f / 2 * 8;
        score[n][f] = key < keys && !(CAUSAL && key > row) ? score[n][f] * (SCALE * kLog2) : -INFINITY_F;
        peak[f / 2] = fmaxf(peak[f / 2], score[n][f]);
      }
    #pragma unroll
    for (int h = 0; h < 2; ++h) {
      peak[h] = over_warp<Max, 4>(peak[h]);
      const float shrink = part == 0 ? 1.f : power_of_2(most[h] - peak[h]);   // in the first part every row sees its sentence's first key
      sum[h] *= shrink;
      #pragma unroll
      for (int n = 0; n < kValues / 8; ++n) out[n][2 * h] *= shrink, out[n][2 * h + 1] *= shrink;
      most[h] = peak[h];
    }
    #pragma unroll
    for (int s = 0; s < kPart / 16; ++s) {
      u32 weight[4];
      #pragma unroll
      for (int f = 0; f < 4; ++f) {   // of the two blocks of 8 keys, rows group and group + 8
        const int n = 2 * s + f / 2, h = f % 2;
        const float x = power_of_2(score[n][2 * h] - most[h]), y = power_of_2(score[n][2 * h + 1] - most[h]);
        sum[h] += x + y;
        weight[f] = pair(x, y);
      }
      #pragma unroll
      for (int n = 0; n < kValues / 8; n += 2) {
        u32 b[4];
        load_transposed4(b, part_values + (s * 16 + lane % 16) * kValuePitch + n * 8 + lane / 16 * 8);
        multiply(out[n], weight, b[0], b[1]);
        multiply(out[n + 1], weight, b[2], b[3]);
      }
    }
  }
  #pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h] = over_warp<Sum, 4>(sum[h]);
    const int row = first + group + 8 * h;
    if (row >= keys) continue;
    const float scale = 1.0f / sum[h];
    store_row<ALIGNED>(a.y + batch * a.ys[0] + head * a.ys[1] + (rows.begin + row) * a.ys[2], out, h, scale);
  }
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) vectors(Arguments a) {
  enter();
  attend<REAL_SIZE % 8 == 0 && REAL_VALUE % 8 == 0>(a);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) singles(Arguments a) { enter(); attend<false>(a); }
)";

}  // namespace

std::string attention_packed_text() { return kPacked; }

}  // namespace tenfold::backends::cuda
