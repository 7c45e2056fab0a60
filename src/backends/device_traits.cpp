#include "backends/device_traits.h"

namespace tenfold::backends {

DeviceTraits traits_of(const DeviceInfo& device) {
  DeviceTraits t;
  if (device.kind == "cuda") {
    t.launches = t.tensor_core_gemm = true;
    t.half_values = device.arch >= kFirstArchWithHalf;
    t.float8_gemm = device.arch >= kFirstArchWithFloat8;
  } else if (device.kind == "cpu") {
    t.blocks = t.host_arithmetic = true;
    t.bf16_gemm = (device.features & kAmxBf16) != 0;
    t.byte_pairs = (device.features & kVnni) == 0;
    t.signed_bytes = (device.features & kAmxInt8) != 0;
  }
  return t;
}

std::uint32_t common_features(std::string_view device) { return device == "cpu" ? std::uint32_t{kAvx2} : 0; }

}  // namespace tenfold::backends
