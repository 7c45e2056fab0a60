// Attention of few queries over many keys (flash-decoding): the blocks of a cluster share the keys of one head of keys, for all heads of
// queries that read it.
//
//   keys of a head      | block 0        | block 1        | ...           of a cluster; each reads its keys and values once
//   of a block            stream 0, 1, ... take a key in turn: LANES lanes of a warp, 16 bytes of a row each
//
// Each stream keeps a maximum, a sum and the weighted values of every row of queries; streams, then warps, then blocks join theirs.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/attention/attention_split_kv.cpp prints those of a problem
#include "backends/cuda/kernels/attention/attention_defaults.cuh"
#define ROWS 4               // of queries that share a head of keys, at most
#define QUERIES 1            // of a head of queries; 0: as the run has it
#define MASK_SHARED 0        // one row of the mask for all heads and queries
#define SPLIT 8              // blocks of a cluster
#define CLUSTER __cluster_dims__(8, 1, 1)
#define UNROLL 4             // keys that a stream has at once
#endif

#include "backends/cuda/kernels/attention/sentences.cuh"
#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/exp2.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"

constexpr int kVector = 16 / sizeof(T), LANES = REAL_SIZE / kVector, GROUPS = 32 / LANES, STREAMS = WARPS * GROUPS;
constexpr int kMasks = MASK_SHARED ? 1 : ROWS;

// What a block computes: for all rows of queries of one head of keys, a part of the keys.
struct Share {
  i64 batch, head;
  int queries, rows, first, end;
};
__device__ __forceinline__ Share share_of(const Arguments& a) {
  const int keys = (int)a.keys, queries = QUERIES > 0 ? QUERIES : (int)a.queries, share = (keys + SPLIT - 1) / SPLIT;
  const int first = min(keys, share * (int)blockIdx.x);
  return {blockIdx.z, blockIdx.y, queries, (int)a.group * queries, first, min(keys, first + share)};
}
// A row of queries: query after query of the first head, then of the next.
struct Row {
  i64 head;
  int query;
};
__device__ __forceinline__ Row row_of(const Arguments& a, const Share& s, int r) {
  return {s.head * a.group + r / s.queries, r % s.queries};
}

// Where a lane reads: its part of rows of keys and values.
struct Lane {
  const T *k, *v;
  int part, stream;
  bool aligned;
};
__device__ __forceinline__ Lane lane_of(const Arguments& a, const Share& s) {
  const int lane = threadIdx.x % 32, part = lane % LANES * kVector;
  const u64 places = (u64)a.k | (u64)a.v | (u64)((a.k_stride[0] | a.k_stride[1] | a.k_stride[2] | a.v_stride[0] | a.v_stride[1] |
                                                  a.v_stride[2]) * (i64)sizeof(T));
  return {a.k + s.batch * a.k_stride[0] + s.head * a.k_stride[1] + part, a.v + s.batch * a.v_stride[0] + s.head * a.v_stride[1] + part,
          part, lane / LANES, places % 16 == 0};
}

// A running softmax of one row: the maximum of its scores in powers of two, the sum of their weights, and values by these weights.
struct Running {
  float most, sum, value[kVector];
  // Scales what there is to a new maximum, which may be minus infinity: nothing was seen.
  __device__ __forceinline__ float raise(float now) {
    const float base = now == -INFINITY_F ? 0.f : now, factor = exp2_approx(most - base);
    most = now, sum *= factor;
    #pragma unroll
    for (int e = 0; e < kVector; ++e) value[e] *= factor;
    return base;
  }
};

__device__ __forceinline__ void load(const T* p, bool aligned, T (&x)[kVector]) {
  if (aligned) return read<kVector>(p, x);
  #pragma unroll
  for (int e = 0; e < kVector; ++e) x[e] = p[e];
}
__device__ __forceinline__ void load_queries(const Arguments& a, const Share& s, int part, float (&q)[ROWS][kVector]) {
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const Row row = row_of(a, s, r < s.rows ? r : 0);
    const T* from = a.q + s.batch * a.q_stride[0] + row.head * a.q_stride[1] + row.query * a.q_stride[2] + part;
    T x[kVector];
    load(from, (u64)from % 16 == 0, x);
    #pragma unroll
    for (int e = 0; e < kVector; ++e) q[r][e] = (float)LOAD(x[e]) * SCALE;
  }
}

// Keys that a stream takes at once, and what the mask adds to their scores.
struct Keys {
  T k[UNROLL][kVector], v[UNROLL][kVector];
#if MASKED
  MASK mask[kMasks][UNROLL];
#endif
};
// Everything is asked for before anything is waited for. Behind the end the last key stands once more.
__device__ __forceinline__ void load_keys(const Arguments& a, const Share& s, const Lane& lane, int key, Keys& keys) {
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const i64 at = min(key + u * STREAMS + lane.stream, s.end - 1);
    load(lane.k + at * a.k_stride[2], lane.aligned, keys.k[u]), load(lane.v + at * a.v_stride[2], lane.aligned, keys.v[u]);
#if MASKED
    #pragma unroll
    for (int r = 0; r < kMasks; ++r) {
      const Row row = row_of(a, s, r < s.rows ? r : 0);
      keys.mask[r][u] = a.mask[s.batch * a.mask_stride[0] + (MASK_SHARED ? 0 : row.head * a.mask_stride[1] + row.query * a.mask_stride[2]) +
                               at * a.mask_stride[3]];
    }
#endif
  }
}

// Key u's score of row r, in powers of two.
__device__ __forceinline__ float score_of(const Share& s, const float (&q)[kVector], const Keys& keys, int r, int u, int at) {
  float x = 0.f;
  #pragma unroll
  for (int e = 0; e < kVector; ++e) x += q[e] * (float)LOAD(keys.k[u][e]);
  x = over_warp<Sum, LANES>(x);
#if CAPPED
  x = (float)CAP * tanhf(x / (float)CAP);
#endif
  x *= kLog2;
#if MASKED
  x += mask_log2((float)LOAD_MASK(keys.mask[MASK_SHARED ? 0 : r][u]));
#endif
  return at < s.end && !(CAUSAL && at > r % s.queries) ? x : -INFINITY_F;
}
__device__ __forceinline__ void take_keys(const Share& s, const Lane& lane, int key, const Keys& keys, const float (&q)[ROWS][kVector],
                                          Running (&running)[ROWS]) {
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (r >= s.rows) break;
    float score[UNROLL], now = running[r].most;
    #pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      score[u] = score_of(s, q[r], keys, r, u, key + u * STREAMS + lane.stream);
      now = max_nan(now, score[u]);
    }
    const float base = running[r].raise(now);
    #pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const float weight = exp2_approx(score[u] - base);
      running[r].sum += weight;
      #pragma unroll
      for (int e = 0; e < kVector; ++e) running[r].value[e] += weight == 0.f ? 0.f : weight * (float)LOAD(keys.v[u][e]);
    }
  }
}

// What warps, then the block, have of each row.
struct Shared {
  float values[WARPS][ROWS][REAL_SIZE], most[WARPS][ROWS], sums[WARPS][ROWS];
  float own_values[ROWS][REAL_SIZE], own_most[ROWS], own_sums[ROWS];
};
__device__ __forceinline__ void join_streams(const Lane& lane, Running (&running)[ROWS], Shared& shared) {
  const int warp = threadIdx.x / 32;
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    #pragma unroll
    for (int away = LANES; away < 32; away *= 2) {
      running[r].raise(max_nan(running[r].most, __shfl_xor_sync(~0u, running[r].most, away)));   // both lanes to the same
      running[r].sum += __shfl_xor_sync(~0u, running[r].sum, away);
      #pragma unroll
      for (int e = 0; e < kVector; ++e) running[r].value[e] += __shfl_xor_sync(~0u, running[r].value[e], away);
    }
    if (lane.stream == 0) {
      #pragma unroll
      for (int e = 0; e < kVector; ++e) shared.values[warp][r][lane.part + e] = running[r].value[e];
      shared.most[warp][r] = running[r].most, shared.sums[warp][r] = running[r].sum;
    }
  }
}

// COUNT parts of one element of a row, joined.
struct Joined {
  float most, sum, value;
};
template <int COUNT>
__device__ __forceinline__ Joined join(const float (&most)[COUNT], const float (&sum)[COUNT], const float (&value)[COUNT]) {
  Joined all{-INFINITY_F, 0.f, 0.f};
  #pragma unroll
  for (int i = 0; i < COUNT; ++i) all.most = max_nan(all.most, most[i]);
  const float base = all.most == -INFINITY_F ? 0.f : all.most;
  #pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const float factor = exp2_approx(most[i] - base);
    all.sum += factor * sum[i], all.value += factor * value[i];
  }
  return all;
}
__device__ __forceinline__ void join_warps(Shared& shared) {
  for (int i = threadIdx.x; i < ROWS * REAL_SIZE; i += 32 * WARPS) {
    const int r = i / REAL_SIZE, d = i % REAL_SIZE;
    float most[WARPS], sum[WARPS], value[WARPS];
    #pragma unroll
    for (int w = 0; w < WARPS; ++w) most[w] = shared.most[w][r], sum[w] = shared.sums[w][r], value[w] = shared.values[w][r][d];
    const Joined all = join(most, sum, value);
    shared.own_values[r][d] = all.value;
    if (d == 0) shared.own_most[r] = all.most, shared.own_sums[r] = all.sum;
  }
}
__device__ __forceinline__ float there(const float* own, int block) {
#if SPLIT > 1
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(mapa(smem_address(own), block)));
  return x;
#else
  return *own;
#endif
}
// Each block of a cluster ends a part of the results.
__device__ __forceinline__ void join_blocks(const Arguments& a, const Share& s, const Shared& shared) {
  const int count = s.rows * REAL_SIZE, part = (count + SPLIT - 1) / SPLIT, first = part * (int)blockIdx.x;
  for (int i = first + threadIdx.x; i < min(count, first + part); i += 32 * WARPS) {
    const int r = i / REAL_SIZE, d = i % REAL_SIZE;
    float most[SPLIT], sum[SPLIT], value[SPLIT];
    #pragma unroll
    for (int b = 0; b < SPLIT; ++b)
      most[b] = there(&shared.own_most[r], b), sum[b] = there(&shared.own_sums[r], b), value[b] = there(&shared.own_values[r][d], b);
    const Joined all = join(most, sum, value);
    const float y = (ZERO_ROWS && all.sum == 0.f ? 0.f : all.value / all.sum) * VALUE_SCALE;
    const Row row = row_of(a, s, r);
    a.y[s.batch * a.y_stride[0] + row.head * a.y_stride[1] + row.query * a.y_stride[2] + d] = STORE(y);
  }
}
__device__ __forceinline__ void meet() {
#if SPLIT > 1
  cluster_sync();
#else
  __syncthreads();
#endif
}

extern "C" __global__ void CLUSTER __launch_bounds__(32 * WARPS) attention(const __grid_constant__ Arguments a) {
  enter();
  __shared__ Shared shared;
  const Share share = share_of(a);
  const Lane lane = lane_of(a, share);
  float q[ROWS][kVector];
  load_queries(a, share, lane.part, q);
  Running running[ROWS] = {};
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) running[r].most = -INFINITY_F;
  // The same for all lanes of a warp.
  for (int key = share.first + (int)threadIdx.x / 32 * GROUPS; key < share.end; key += STREAMS * UNROLL) {
    Keys keys;
    load_keys(a, share, lane, key, keys);
    take_keys(share, lane, key, keys, q, running);
  }
  join_streams(lane, running, shared);
  __syncthreads();
  join_warps(shared);
  meet();
  join_blocks(a, share, shared);
  if (SPLIT > 1) meet();   // no block leaves while others read its memory
}
