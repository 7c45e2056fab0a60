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
#define SPLIT 8              // blocks of a cluster
#define CLUSTER __cluster_dims__(8, 1, 1)
#define UNROLL 4             // keys that a stream has at once
#endif

#include "backends/cuda/kernels/attention/sentences.cuh"
#include "backends/cuda/kernels/lib/cluster.cuh"
#include "backends/cuda/kernels/lib/exp2.cuh"
#include "backends/cuda/kernels/lib/smem.cuh"

constexpr int kVector = 16 / sizeof(T), LANES = REAL_SIZE / kVector, GROUPS = 32 / LANES, STREAMS = WARPS * GROUPS;

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
__device__ __forceinline__ float there(u32 address, int block) {
#if SPLIT > 1
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(mapa(address, block)));
  return x;
#else
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address));
  return x;
#endif
}

extern "C" __global__ void CLUSTER __launch_bounds__(32 * WARPS) attention(const __grid_constant__ Arguments a) {
  enter();
  __shared__ float values[WARPS][ROWS][REAL_SIZE], most[WARPS][ROWS], sums[WARPS][ROWS];
  __shared__ float own_values[ROWS][REAL_SIZE], own_most[ROWS], own_sums[ROWS];
  const i64 head = blockIdx.y, batch = blockIdx.z;
  const int keys = (int)a.keys, queries = (int)a.queries, rows = (int)a.group * queries;
  const int share = (keys + SPLIT - 1) / SPLIT, first = min(keys, share * (int)blockIdx.x), end = min(keys, first + share);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = lane % LANES * kVector, stream = lane / LANES;
  const T* k = a.k + batch * a.k_stride[0] + head * a.k_stride[1] + part;
  const T* v = a.v + batch * a.v_stride[0] + head * a.v_stride[1] + part;
  const u64 places = (u64)a.k | (u64)a.v | (u64)((a.k_stride[0] | a.k_stride[1] | a.k_stride[2] | a.v_stride[0] | a.v_stride[1] |
                                                  a.v_stride[2]) * (i64)sizeof(T));
  const bool aligned = places % 16 == 0;

  float q[ROWS][kVector];
  Running running[ROWS];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const i64 row = r < rows ? r : 0;   // the row of a head of queries: query after query
    const T* from = a.q + batch * a.q_stride[0] + (head * a.group + row / queries) * a.q_stride[1] + row % queries * a.q_stride[2] + part;
    #pragma unroll
    for (int e = 0; e < kVector; ++e) q[r][e] = (float)LOAD(from[e]) * SCALE, running[r].value[e] = 0.f;
    running[r].most = -INFINITY_F, running[r].sum = 0.f;
  }

  for (int key = first + warp * GROUPS; key < end; key += STREAMS * UNROLL) {   // the same for all lanes of a warp
    T ks[UNROLL][kVector], vs[UNROLL][kVector];
    #pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const i64 at = min(key + u * STREAMS + stream, end - 1);
      load(k + at * a.k_stride[2], aligned, ks[u]), load(v + at * a.v_stride[2], aligned, vs[u]);
    }
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (r >= rows) break;
      float score[UNROLL], now = running[r].most;
      #pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const int at = key + u * STREAMS + stream;
        float x = 0.f;
        #pragma unroll
        for (int e = 0; e < kVector; ++e) x += q[r][e] * (float)LOAD(ks[u][e]);
        x = over_warp<Sum, LANES>(x);
#if CAPPED
        x = (float)CAP * tanhf(x / (float)CAP);
#endif
        x *= kLog2;
        if (at < end) {
#if MASKED
          const MASK m = a.mask[batch * a.mask_stride[0] + (head * a.group + r / queries) * a.mask_stride[1] +
                                r % queries * a.mask_stride[2] + at * a.mask_stride[3]];
          x += mask_log2((float)LOAD_MASK(m));
#endif
          if (CAUSAL && at > r % queries) x = -INFINITY_F;
        } else {
          x = -INFINITY_F;
        }
        score[u] = x, now = max_nan(now, x);
      }
      const float base = running[r].raise(now);
      #pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const float weight = exp2_approx(score[u] - base);
        running[r].sum += weight;
        #pragma unroll
        for (int e = 0; e < kVector; ++e) running[r].value[e] += weight == 0.f ? 0.f : weight * (float)LOAD(vs[u][e]);
      }
    }
  }

  // Streams of a warp.
  #pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    #pragma unroll
    for (int away = LANES; away < 32; away *= 2) {
      running[r].raise(max_nan(running[r].most, __shfl_xor_sync(~0u, running[r].most, away)));   // both lanes to the same
      running[r].sum += __shfl_xor_sync(~0u, running[r].sum, away);
      #pragma unroll
      for (int e = 0; e < kVector; ++e) running[r].value[e] += __shfl_xor_sync(~0u, running[r].value[e], away);
    }
    if (stream == 0) {
      #pragma unroll
      for (int e = 0; e < kVector; ++e) values[warp][r][part + e] = running[r].value[e];
      most[warp][r] = running[r].most, sums[warp][r] = running[r].sum;
    }
  }
  __syncthreads();
  // Warps of a block.
  for (int i = threadIdx.x; i < ROWS * REAL_SIZE; i += 32 * WARPS) {
    const int r = i / REAL_SIZE, d = i % REAL_SIZE;
    float now = -INFINITY_F, sum = 0.f, value = 0.f;
    for (int w = 0; w < WARPS; ++w) now = max_nan(now, most[w][r]);
    const float base = now == -INFINITY_F ? 0.f : now;
    for (int w = 0; w < WARPS; ++w) {
      const float factor = exp2_approx(most[w][r] - base);
      sum += factor * sums[w][r], value += factor * values[w][r][d];
    }
    own_values[r][d] = value;
    if (d == 0) own_most[r] = now, own_sums[r] = sum;
  }
#if SPLIT > 1
  cluster_sync();
#else
  __syncthreads();
#endif
  // Blocks of a cluster: each ends a part of the results.
  for (int i = blockIdx.x * 32 * WARPS + threadIdx.x; i < rows * REAL_SIZE; i += SPLIT * 32 * WARPS) {
    const int r = i / REAL_SIZE, d = i % REAL_SIZE;
    float now = -INFINITY_F, sum = 0.f, value = 0.f;
    for (int b = 0; b < SPLIT; ++b) now = max_nan(now, there(smem_address(&own_most[r]), b));
    const float base = now == -INFINITY_F ? 0.f : now;
    for (int b = 0; b < SPLIT; ++b) {
      const float factor = exp2_approx(there(smem_address(&own_most[r]), b) - base);
      sum += factor * there(smem_address(&own_sums[r]), b), value += factor * there(smem_address(&own_values[r][d]), b);
    }
    const float y = (ZERO_ROWS && sum == 0.f ? 0.f : value / sum) * VALUE_SCALE;
    a.y[batch * a.y_stride[0] + (head * a.group + r / queries) * a.y_stride[1] + r % queries * a.y_stride[2] + d] = STORE(y);
  }
#if SPLIT > 1
  cluster_sync();   // no block leaves while others read its memory
#endif
}
