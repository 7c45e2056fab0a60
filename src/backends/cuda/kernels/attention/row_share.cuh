// What a row's results are multiplied by behind the last key.
#pragma once

// `times` by the sum of the row's weights. That is zero where minus infinity hides every key: results are zeros then, or NaN.
__device__ __forceinline__ float share_of(float all, float times = 1.0f) {
#if ZERO_ROWS
  return all == 0.f ? 0.f : times / all;
#else
  return times / all;   // infinity, times zero
#endif
}
