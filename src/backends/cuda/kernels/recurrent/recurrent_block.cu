// RNN, LSTM and GRU: a block walks all steps of one sample and direction; gates and state lie in shared memory.
//
//   shared memory, floats: x INPUT | h HIDDEN | c HIDDEN | gates GATES x HIDDEN | other HIDDEN
#include "backends/cuda/kernels/lib/prelude.cuh"

#ifndef CONFIGURED   // values for editors and the check of syntax; tactics/recurrent/recurrent_block.cpp prints those of a problem
#define T u16
#define LOAD(x) from_f16(x)
#define STORE(x) to_f16(x)
#define GATES 4
#define HIDDEN 64
#define INPUT 64
#define THREADS 256
#define ACTIVATION tanhf(x)  // of an RNN
#define LSTM 1
#define REVERSE false
#define PRODUCT_FIRST false  // of a GRU: its candidate weighs the state's product, not the state
#endif

#include "backends/cuda/kernels/recurrent/recurrent_block_args.h"

using namespace tenfold::backends::cuda;

constexpr int kRows = GATES * HIDDEN, kWarps = THREADS / 32;
// The product of one row of weights and a vector, in every lane.
__device__ __forceinline__ float row_product(const T* row, const float* x, int length) {
  float sum = 0.f;
  for (int i = threadIdx.x % 32; i < length; i += 32) sum += LOAD(row[i]) * x[i];
  #pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return sum;
}
extern "C" __global__ void __launch_bounds__(THREADS) walk(const RecurrentArgumentsOf<T> a) {
  enter();
  extern __shared__ float room[];
  float *const x = room, *const h = x + INPUT, *const c = h + HIDDEN, *const gates = c + HIDDEN, *const other = gates + kRows;
  const int warp = threadIdx.x / 32;
  const bool first_lane = threadIdx.x % 32 == 0;
  const i64 sample = blockIdx.x, d = blockIdx.y, state = d * a.state_direction + sample * a.state_sample;
  const T *const w = a.w + d * kRows * INPUT, *const r = a.r + d * kRows * HIDDEN, *const b = a.b + d * 2 * kRows;
  for (int u = threadIdx.x; u < HIDDEN; u += THREADS) {
    h[u] = a.h ? LOAD(a.h[state + u]) : 0.f;
    c[u] = a.c ? LOAD(a.c[state + u]) : 0.f;
  }
  for (i64 i = 0; i < a.steps; ++i) {
    const i64 step = REVERSE || d == 1 ? a.steps - 1 - i : i;
    for (int k = threadIdx.x; k < INPUT; k += THREADS) x[k] = LOAD(a.x[step * a.x_step + sample * a.x_sample + k]);
    __syncthreads();
    for (int row = warp; row < kRows; row += kWarps) {
      const bool apart = GATES == 3 && row >= 2 * HIDDEN;   // a GRU's candidate: what comes of the state is weighed first
      float from_input = row_product(w + (i64)row * INPUT, x, INPUT), from_state = 0.f;
      if (!apart || PRODUCT_FIRST) from_state = row_product(r + (i64)row * HIDDEN, h, HIDDEN);
      if (!first_lane) continue;
      if (a.b) from_input += LOAD(b[row]), from_state += LOAD(b[kRows + row]);
      gates[row] = apart ? from_input : from_input + from_state;
      if (apart) other[row - 2 * HIDDEN] = from_state;
    }
    __syncthreads();
#if LSTM
    for (int u = threadIdx.x; u < HIDDEN; u += THREADS) {
      c[u] = sigmoid(gates[2 * HIDDEN + u]) * c[u] + sigmoid(gates[u]) * tanhf(gates[3 * HIDDEN + u]);
      h[u] = sigmoid(gates[HIDDEN + u]) * tanhf(c[u]);
    }
#elif GATES == 1
    for (int u = threadIdx.x; u < HIDDEN; u += THREADS) {
      const float x = gates[u];
      h[u] = ACTIVATION;
    }
#else
    if (!PRODUCT_FIRST) {
      for (int u = threadIdx.x; u < HIDDEN; u += THREADS) c[u] = sigmoid(gates[HIDDEN + u]) * h[u];
      __syncthreads();
      for (int u = warp; u < HIDDEN; u += kWarps) {
        const float product = row_product(r + (i64)(2 * HIDDEN + u) * HIDDEN, c, HIDDEN);
        if (first_lane) other[u] += product;
      }
      __syncthreads();
    }
    for (int u = threadIdx.x; u < HIDDEN; u += THREADS) {
      const float z = sigmoid(gates[u]), weight = PRODUCT_FIRST ? sigmoid(gates[HIDDEN + u]) : 1.f;
      h[u] = (1.f - z) * tanhf(gates[2 * HIDDEN + u] + weight * other[u]) + z * h[u];
    }
#endif
    if (a.y)
      for (int u = threadIdx.x; u < HIDDEN; u += THREADS)
        a.y[step * a.y_step + d * a.y_direction + sample * a.y_sample + u] = STORE(h[u]);
    __syncthreads();
  }
  for (int u = threadIdx.x; u < HIDDEN; u += THREADS) {
    if (a.last_h) a.last_h[state + u] = STORE(h[u]);
    if (a.last_c) a.last_c[state + u] = STORE(c[u]);
  }
}
