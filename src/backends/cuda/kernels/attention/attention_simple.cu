// Attention of any float type, a block for each query, whose scores lie in shared memory.
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; codegen/attention/attention_head.cpp prints those of a problem
#include "backends/cuda/kernels/attention/attention_defaults.cuh"
__device__ __forceinline__ float epilogue(float x) { return x; }   // what is stored of a result
#endif

#include "backends/cuda/kernels/attention/sentences.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) attention(Arguments a) {
  enter();
  extern __shared__ float scores[];
  __shared__ float room[32];
  if (clears_rest(a)) return;
  const i64 row = blockIdx.x, head = blockIdx.y, batch = blockIdx.z;
  const Rows rows = rows_of(a, batch);
  const i64 keys = rows.keys;
  if (PACKED && row >= rows.queries) return;
  const T* q = a.q + batch * a.q_stride[0] + head * a.q_stride[1] + (rows.begin + row) * a.q_stride[2];
  const T* k = a.k + batch * a.k_stride[0] + head / a.group * a.k_stride[1] + rows.begin * a.k_stride[2];
  const T* v = a.v + batch * a.v_stride[0] + head / a.group * a.v_stride[1] + rows.begin * a.v_stride[2];
  float most = -INFINITY_F;
  for (i64 key = threadIdx.x; key < keys; key += THREADS) {
    float x = 0;
    for (int d = 0; d < REAL_SIZE; ++d) x += (float)LOAD(q[d]) * (float)LOAD(k[key * a.k_stride[2] + d]);
    x *= SCALE;
#if CAPPED
    x = (float)CAP * tanhf(x / (float)CAP);
#endif
#if MASKED
    {
      const MASK m = a.mask[batch * a.mask_stride[0] + head * a.mask_stride[1] + row * a.mask_stride[2] + key * a.mask_stride[3]];
      x += LOAD_MASK(m);
    }
#endif
    if (CAUSAL && key > row) x = -INFINITY_F;
    scores[key] = x;
    most = max_nan(most, x);
  }
  most = over_block<Max, THREADS>(most, -INFINITY_F, room);
#if ZERO_ROWS
  if (most == -INFINITY_F) most = 0.f;
#endif
  float sum = 0;
  for (i64 key = threadIdx.x; key < keys; key += THREADS) sum += scores[key] = expf(scores[key] - most);
  sum = over_block<Sum, THREADS>(sum, 0.f, room);
  __syncthreads();
  for (int d = threadIdx.x; d < REAL_VALUE; d += THREADS) {
    float y = 0;
    for (i64 key = 0; key < keys; ++key) y += scores[key] * (float)LOAD(v[key * a.v_stride[2] + d]);
    const float r = (ZERO_ROWS && sum == 0.f ? 0.f : y / sum) * VALUE_SCALE;
    a.y[batch * a.y_stride[0] + head * a.y_stride[1] + (rows.begin + row) * a.y_stride[2] + d] = STORE(epilogue(r));
  }
}
