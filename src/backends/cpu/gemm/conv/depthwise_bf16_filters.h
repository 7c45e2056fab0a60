// Filters of depthwise convolutions as the kernels of kernels/conv/depthwise_bf16.h want them.
#pragma once

#include "tenfold/tensor.h"

namespace tenfold::backends::cpu {

// [vector of channels][tap][channel], zeros in channels that do not exist; the original is [channel][tap].
struct DepthwiseBf16Filters {
  std::int64_t taps, channels;

  std::int64_t values() const;
  std::int64_t bytes() const { return values() * 2; }
  void pack(const Tensor& original, void* packed) const;
  void unpack(const void* packed, Tensor& original) const;

 private:
  std::int64_t slot(std::int64_t i) const;   // of value i of the original
};

}  // namespace tenfold::backends::cpu
