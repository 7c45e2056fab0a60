// What a kernel says to those that run before and behind it.
#pragma once

// Every kernel starts with this: it may have been started while the one before it ran (device/launch.h), whose results are there
// once it returns. The next one may come early if both are small enough to lie on the device together.
__device__ __forceinline__ void enter() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (gridDim.x * gridDim.y * gridDim.z <= 264u) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// For grids that enter() keeps the next kernel from: once all their blocks are there, it takes no room from them.
__device__ __forceinline__ void next_may_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// enter() of a kernel that stays on its multiprocessors: the next one may come at once.
__device__ __forceinline__ void enter_persistent() {
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
}
