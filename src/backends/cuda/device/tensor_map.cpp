// Asking the driver for descriptions.
#include "backends/cuda/device/tensor_map.h"

namespace tenfold::backends::cuda {
namespace {

// Values that the driver's interface fixes.
constexpr int kBytes = 0, kI32 = 3, kF16 = 6, kF32 = 7, kBf16 = 9, kTf32 = 11, kNoInterleave = 0, kWholeSectors = 3, kZeros = 0;
constexpr int kNoSwizzle = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3;

int type_of(DType dtype, bool to_tf32 = false) {
  if (to_tf32) return kTf32;
  switch (dtype) {
    case DType::f16: return kF16;
    case DType::bf16: return kBf16;
    case DType::f32: return kF32;
    case DType::i32: return kI32;
    default: return kBytes;  // any type of 8 bits
  }
}

}  // namespace

template <std::size_t RANK>
Status::Code describe(const BoxedTensor<RANK>& t, TensorMap& map) noexcept {
  std::array<unsigned long long, RANK> dims{}, strides{};
  std::array<unsigned, RANK> box{}, steps{};
  const auto element = static_cast<unsigned long long>(bits(t.dtype) / 8);
  unsigned long long stride = element;
  const int row_bytes = t.box[0] * bits(t.dtype) / 8;
  for (std::size_t d = 0; d < RANK; ++d) {
    dims[d] = static_cast<unsigned long long>(t.dims[d]), box[d] = static_cast<unsigned>(t.box[d]), steps[d] = 1;
    stride *= dims[d];
    if (d + 1 < RANK && t.strides[d] > 0) stride = element * static_cast<unsigned long long>(t.strides[d]);
    strides[d] = stride;
  }
  const int swizzle = row_bytes == 128 ? kSwizzle128 : row_bytes == 64 ? kSwizzle64 : row_bytes == 32 ? kSwizzle32 : kNoSwizzle;
  return status_of(driver()->tensor_map_tiled(&map, type_of(t.dtype, t.to_tf32), RANK, const_cast<void*>(t.data), dims.data(),
                                              strides.data(), box.data(), steps.data(), kNoInterleave, swizzle, kWholeSectors, kZeros));
}
template Status::Code describe(const BoxedTensor<2>& t, TensorMap& map) noexcept;
template Status::Code describe(const BoxedTensor<3>& t, TensorMap& map) noexcept;
template Status::Code describe(const BoxedTensor<4>& t, TensorMap& map) noexcept;
template Status::Code describe(const BoxedTensor<5>& t, TensorMap& map) noexcept;

namespace {

// Where TMA's window over the image begins and ends, relative to the image's own corners.
int lower_corner(const GemmProblem& p, std::size_t d) { return -static_cast<int>(p.begin[d]); }
int upper_corner(const GemmProblem& p, std::size_t d) {
  return static_cast<int>((p.out_extent[d] - 1) * p.stride[d] - p.begin[d] - (p.in_extent[d] - 1));
}

}  // namespace

bool can_describe_images(const GemmProblem& p) {
  const int rank = p.spatial_rank(), corner_bits[] = {16, 8, 5};
  const std::int64_t half = std::int64_t{1} << (corner_bits[rank - 1] - 1);
  for (std::size_t d = static_cast<std::size_t>(3 - rank); d < 3; ++d) {
    const std::int64_t upper = (p.out_extent[d] - 1) * p.stride[d] - p.begin[d] - (p.in_extent[d] - 1);
    if (p.begin[d] > half || p.begin[d] < 1 - half || upper < -half || upper >= half) return false;
    if (p.stride[d] > 8 || (p.kernel[d] - 1) * p.dilation[d] >= 2 * half) return false;
  }
  return true;
}

Status::Code describe_images(const GemmProblem& p, const void* data, std::int64_t images, int pixels, TensorMap& map) noexcept {
  const int rank = p.spatial_rank();
  std::array<unsigned long long, 5> dims{}, strides{};
  std::array<unsigned, 5> steps{};
  std::array<int, 3> lower{}, upper{};
  dims[0] = static_cast<unsigned long long>(p.channels), steps[0] = 1;
  std::size_t at = 1;
  for (std::size_t d = 2; at <= static_cast<std::size_t>(rank); --d, ++at) {
    dims[at] = static_cast<unsigned long long>(p.in_extent[d]), steps[at] = static_cast<unsigned>(p.stride[d]);
    lower[at - 1] = lower_corner(p, d), upper[at - 1] = upper_corner(p, d);
  }
  dims[at] = static_cast<unsigned long long>(images), steps[at] = 1;
  unsigned long long stride = static_cast<unsigned long long>(bits(p.in) / 8);
  for (std::size_t d = 0; d < at; ++d) strides[d] = stride *= dims[d];
  const auto depth = static_cast<unsigned>(p.row_depth());
  return status_of(driver()->tensor_map_im2col(&map, type_of(p.in, p.in == DType::f32), static_cast<unsigned>(at) + 1,
                                               const_cast<void*>(data), dims.data(),
                                               strides.data(), lower.data(), upper.data(), depth, static_cast<unsigned>(pixels),
                                               steps.data(), kNoInterleave, p.row_bytes() == 128 ? kSwizzle128 : kSwizzle64, kWholeSectors,
                                               kZeros));
}

}  // namespace tenfold::backends::cuda
