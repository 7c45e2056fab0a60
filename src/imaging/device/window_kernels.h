// The kernels of kernels/, compiled for one GPU, and the forms of their arguments.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/kernels/args.h"
#include "tenfold/internal/device_work.h"
#include "tenfold/tensor.h"
#include "windows/axis.h"

namespace tenfold::imaging {

std::string window_kernels_source();

struct WindowKernels {
  explicit WindowKernels(DeviceWork& work);   // throws unsupported without NVRTC
  std::shared_ptr<const void> cut, add, finish, resample, mean;
};

inline constexpr unsigned kThreads = 256;
inline constexpr std::int64_t kMaxVoxels = std::int64_t{1} << 31;   // of a launch, which counts them in 32 bits
inline std::int64_t blocks_of(std::int64_t voxels) { return (voxels + kThreads - 1) / kThreads; }
bool has_window_type(DType dtype);            // whether kernels read and write it
WindowType window_type(DType dtype);

// Two to four axes as four, with ones of one voxel behind the first.
template <class Axis>
std::array<Axis, 4> four_axes(const std::vector<Axis>& axes) {
  std::array<Axis, 4> all;
  for (Axis& one : all) one.starts = {0};
  all[0] = axes[0];
  for (std::size_t a = 1; a < axes.size(); ++a) all[4 - axes.size() + a] = axes[a];
  return all;
}
// Strides of spatial axes, of which the first `lifted` of `axes` have none.
inline void four_strides(const Shape& strides, std::size_t axes, unsigned (&to)[4]) {
  for (unsigned& one : to) one = 0;
  for (std::size_t s = 0; s < strides.size(); ++s) {
    const std::size_t axis = axes - strides.size() + s;
    to[axis == 0 ? 0 : 4 - axes + axis] = static_cast<unsigned>(strides[s]);
  }
}

}  // namespace tenfold::imaging
