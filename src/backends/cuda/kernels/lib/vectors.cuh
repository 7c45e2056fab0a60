// Vectors of elements.
#pragma once

// V elements that are read or written at once.
template <class T, int V> struct alignas(sizeof(T) * V >= 16 ? 16 : sizeof(T) * V) Pack { T v[V]; };
template <int V, class T> __device__ __forceinline__ void read(const T* p, T (&x)[V]) {
  const Pack<T, V> pack = *reinterpret_cast<const Pack<T, V>*>(p);
  #pragma unroll
  for (int i = 0; i < V; ++i) x[i] = pack.v[i];
}
template <int V, class T> __device__ __forceinline__ void write(T* p, const T (&x)[V]) {
  Pack<T, V> pack;
  #pragma unroll
  for (int i = 0; i < V; ++i) pack.v[i] = x[i];
  *reinterpret_cast<Pack<T, V>*>(p) = pack;
}
