// The order of elements: order(x) is larger where an element is better; integers in the order of floats, the two zeros equal, every NaN
// above infinity.
#pragma once

__device__ __forceinline__ u32 order(T stored) {
  const COMPUTE value = LOADED(stored);
#if FLOATS
  const int bits = __float_as_int(value + 0.f);
  const u32 up = (u32)(value != value ? 0x7fffffff : bits < 0 ? bits ^ 0x7fffffff : bits) ^ 0x80000000u;
#else
  const u32 up = (u32)value ^ 0x80000000u;
#endif
  return LARGEST ? up : ~up;
}
