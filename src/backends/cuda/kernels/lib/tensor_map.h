// An image of TMA's description of a tensor; the driver fills it (device/tensor_map.h).
#pragma once

namespace tenfold::backends::cuda {

struct alignas(64) TensorMap {
  unsigned long long words[16];
};
static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64, "as CUtensorMap");

}  // namespace tenfold::backends::cuda
