#include "backends/device_traits.h"

#include <charconv>

namespace tenfold::backends {

DeviceKind kind_of(const DeviceInfo& device) {
  return device.kind == "cpu" ? DeviceKind::cpu : device.kind == "cuda" ? DeviceKind::gpu : DeviceKind::none;
}

std::optional<int> gpu_ordinal(std::string_view device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return {};
  int ordinal = 0;
  const char* const end = device.data() + device.size();
  const auto [rest, wrong] = std::from_chars(device.data() + 5, end, ordinal);
  if (wrong != std::errc() || rest != end || ordinal < 0) return {};
  return ordinal;
}

DeviceTraits traits_of(const DeviceInfo& device) {
  DeviceTraits t;
  const DeviceKind kind = kind_of(device);
  if (kind == DeviceKind::gpu) {
    t.launches = t.tensor_core_gemm = true;
    t.half_values = device.arch >= kFirstArchWithHalf;
    t.float8_gemm = device.arch >= kFirstArchWithFloat8;
    t.narrow_weights = device.arch >= kFirstArchWithNarrowWeights;
  } else if (kind == DeviceKind::cpu) {
    t.blocks = t.host_arithmetic = t.narrow_weights = true;
    t.bf16_gemm = (device.features & kAmxBf16) != 0;
    t.byte_pairs = (device.features & kVnni) == 0;
    t.signed_bytes = (device.features & kAmxInt8) != 0;
  }
  return t;
}

std::uint32_t common_features(std::string_view device) { return device == "cpu" ? std::uint32_t{kAvx2} : 0; }

}  // namespace tenfold::backends
