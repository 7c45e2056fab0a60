// Packing filters of depthwise convolutions.
#include "backends/cpu/gemm/conv/depthwise_bf16_filters.h"

#include <algorithm>

#include "backends/cpu/kernels/conv/depthwise_bf16.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {

std::int64_t DepthwiseBf16Filters::values() const { return round_up(channels, kDepthwiseBf16Block) * taps; }

std::int64_t DepthwiseBf16Filters::slot(std::int64_t i) const {
  const std::int64_t channel = i / taps, vector = channel / kDepthwiseBf16Block;
  return (vector * taps + i % taps) * kDepthwiseBf16Block + channel % kDepthwiseBf16Block;
}

void DepthwiseBf16Filters::pack(const Tensor& original, void* packed) const {
  const auto* from = static_cast<const std::uint16_t*>(original.raw());
  auto* to = static_cast<std::uint16_t*>(packed);
  std::fill_n(to, values(), std::uint16_t{0});
  for (std::int64_t i = 0; i < channels * taps; ++i) to[slot(i)] = from[i];
}

void DepthwiseBf16Filters::unpack(const void* packed, Tensor& original) const {
  const auto* from = static_cast<const std::uint16_t*>(packed);
  auto* to = static_cast<std::uint16_t*>(original.mutable_raw());
  for (std::int64_t i = 0; i < channels * taps; ++i) to[i] = from[slot(i)];
}

}  // namespace tenfold::backends::cpu
