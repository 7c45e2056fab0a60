// TMA's descriptions of tensors, filled by the driver for each launch.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/device/driver.h"

namespace tenfold::backends::cuda {

// A tensor of elements of 8, 16 or 32 bits, innermost dim first, that is taken box by box; `box[0]` elements are a row in shared memory
// of 32, 64 or 128 bytes, permuted within groups of rows, or of 16 bytes as they come.
template <std::size_t RANK>
struct BoxedTensor {
  DType dtype;
  const void* data;
  std::array<std::int64_t, RANK> dims;
  std::array<int, RANK> box;
  std::array<std::int64_t, RANK - 1> strides = {};  // elements from one to the next of each dim but the innermost; 0: dense
  bool to_tf32 = false;  // f32 is rounded to tf32 on its way to shared memory
};
template <std::size_t RANK>
Status::Code describe(const BoxedTensor<RANK>& t, TensorMap& map) noexcept;

// The images of a convolution, channels-last: TMA walks over `pixels` output positions, 128 bytes of channels at a time; f32 as tf32.
Status::Code describe_images(const GemmProblem& p, const void* data, std::int64_t images, int pixels, TensorMap& map) noexcept;
// Whether TMA's fields hold the convolution's pads, strides and taps.
bool can_describe_images(const GemmProblem& p);

}  // namespace tenfold::backends::cuda
