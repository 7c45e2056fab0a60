// The kernels that attend() stands behind: `vectors`, for rows at multiples of 16 bytes, and `singles`.
#pragma once

extern "C" __global__ void __launch_bounds__(BOUNDS) vectors(Arguments a) {
  enter();
  attend<REAL_SIZE % kPiece == 0 && REAL_VALUE % kPiece == 0>(a);
}
extern "C" __global__ void __launch_bounds__(32 * WARPS) singles(Arguments a) { enter(); attend<false>(a); }
