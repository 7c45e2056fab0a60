// Reading a row of the source and resampling it. VALUE is what a row's resampled elements are held as: the elements themselves where the
// nearest is taken, else f32. Elements of the source are held in words as they were read, so that nothing waits for them before they are
// used.
#pragma once
#include "backends/cuda/kernels/resize/resize_places.cuh"

template <int N> struct Words { u32 w[N * sizeof(T) > 4 ? N * sizeof(T) / 4 : 1]; };
template <int N> __device__ __forceinline__ Words<N> fetch(const T* from) {
  Words<N> x;
  if (N * sizeof(T) < 4) x.w[0] = *(const u16*)from;
  else read<sizeof(x.w) / 4>((const u32*)from, x.w);
  return x;
}
__device__ __forceinline__ void element(u32 word, int, float& x) { x = __uint_as_float(word); }
__device__ __forceinline__ void element(u32 word, int i, u16& x) { x = (u16)(word >> i % 2 * 16); }
template <int N> __device__ __forceinline__ T element(const Words<N>& x, int i) {
  T y;
  element(x.w[i * sizeof(T) / 4], i, y);
  return y;
}
template <int V> struct Columns { OFFSET offset[LAST ? 1 : V][TAPS]; float weight[LAST ? 1 : V][TAPS]; int window, extent; };
#if WINDOW
// Of the elements of a vector: where each begins in its window, and its weights.
__device__ constexpr int kFirst[WIDE] = {FIRSTS};
__device__ constexpr float kWeight[WIDE * TAPS] = {WEIGHTS};
__device__ __forceinline__ bool is_usual(const Place& p, int window, int v) {
  bool same = p.first == window + kFirst[v];
  #pragma unroll
  for (int t = 0; t < TAPS && TAPS > 1; ++t) same = same && fabsf(p.weight[t] - kWeight[v * TAPS + t]) < 1e-6f;
  return same;
}
struct Window {
  Words<WINDOW> inner;
  T before[BEFORE ? BEFORE : 1], behind[BEHIND ? BEHIND : 1];
  template <class C> __device__ __forceinline__ void get(const T* line, const C& c) {
    inner = fetch<WINDOW>(line + c.window);
    #pragma unroll
    for (int i = 0; i < BEFORE; ++i) before[i] = line[within(c.window + i - BEFORE, c.extent)];
    #pragma unroll
    for (int i = 0; i < BEHIND; ++i) behind[i] = line[within(c.window + i + WINDOW, c.extent)];
  }
  __device__ __forceinline__ T at(int i) const {   // counted from the window's first; always known to the compiler
    if (i < 0) return before[max(0, i + BEFORE)];
    return i < WINDOW ? element(inner, i) : behind[max(0, i - WINDOW)];
  }
  template <class C> __device__ __forceinline__ void mix(const C&, VALUE (&y)[WIDE]) const {
    float x[BEFORE + WINDOW + BEHIND];
    #pragma unroll
    for (int i = 0; i < BEFORE + WINDOW + BEHIND && TAPS > 1; ++i) x[i] = LOADED(at(i - BEFORE));
    #pragma unroll
    for (int v = 0; v < WIDE; ++v) {
      if (TAPS == 1) {
        y[v] = (VALUE)at(kFirst[v]);
        continue;
      }
      float sum = 0.f;
      #pragma unroll
      for (int t = 0; t < TAPS; ++t)
        if (kWeight[v * TAPS + t] != 0.f) sum = fmaf(kWeight[v * TAPS + t], x[BEFORE + kFirst[v] + t], sum);
      y[v] = (VALUE)sum;
    }
  }
};
#endif
// Element by element; channels lie side by side, and are mixed alike.
template <int V> struct Any {
#if LAST
  Words<V> x[TAPS];
  __device__ __forceinline__ void get(const T* line, const Columns<V>& c) {
    #pragma unroll
    for (int t = 0; t < TAPS; ++t) x[t] = fetch<V>(line + c.offset[0][t]);
  }
  __device__ __forceinline__ T at(int v, int t) const { return element(x[t], v); }
#else
  T x[V][TAPS];
  __device__ __forceinline__ void get(const T* line, const Columns<V>& c) {
    #pragma unroll
    for (int v = 0; v < V; ++v)
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) x[v][t] = line[c.offset[v][t]];
  }
  __device__ __forceinline__ T at(int v, int t) const { return x[v][t]; }
#endif
  __device__ __forceinline__ void mix(const Columns<V>& c, VALUE (&y)[V]) const {
    #pragma unroll
    for (int v = 0; v < V; ++v) {
      if (TAPS == 1) {
        y[v] = (VALUE)at(v, 0);
        continue;
      }
      float sum = 0.f;
      #pragma unroll
      for (int t = 0; t < TAPS; ++t) {
        const float weight = c.weight[LAST ? 0 : v][t];
        sum = fmaf(weight, weight != 0.f ? LOADED(at(v, t)) : 0.f, sum);
      }
      y[v] = (VALUE)sum;
    }
  }
};
