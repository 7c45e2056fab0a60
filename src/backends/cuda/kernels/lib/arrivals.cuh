// Which lanes arrive on a barrier for their warp: one. Tests let all do (ARRIVING_LANES is 32), for compute-sanitizer's racecheck takes an
// arrival for the arriving thread's alone, whatever __syncwarp put before it.
#pragma once

__device__ __forceinline__ bool arrives(int lane) { return ARRIVING_LANES > 1 || lane == 0; }
