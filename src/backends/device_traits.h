// What a kind of device wants of graphs and plans, and what its name says. Code above the backends asks here, and compares no names
// (tools/check_layers.py).
#pragma once

#include <optional>
#include <string_view>

#include "backends/device_info.h"

namespace tenfold::backends {

enum class DeviceKind : std::uint8_t { cpu, gpu, none };
DeviceKind kind_of(const DeviceInfo& device);
// Of "cuda" and "cuda:2": which GPU. Nothing for other names.
std::optional<int> gpu_ordinal(std::string_view device);

struct DeviceTraits {
  bool launches = false;          // each step is a launch of microseconds, and an epilogue costs next to nothing
  bool blocks = false;            // bodies run block by block, on tiles that stay in a core's cache
  bool half_values = false;       // all kernels read and write f16 and bf16
  bool bf16_gemm = false;     // products of bf16 are quick, and values between kernels may be bf16 (AMX)
  bool tensor_core_gemm = false;   // 8-bit products are those that tensor cores take
  bool float8_gemm = false;   // products of e4m3
  bool narrow_weights = false;    // products take weights of 4 and 8 bits beside floats, as they are
  bool signed_bytes = false;      // 8-bit products multiply signed activations as quickly as unsigned ones
  bool byte_pairs = false;        // they add two products in 16 bits, and take longer where weights are so large that this does not fit
  bool host_arithmetic = false;   // the host computes: Winograd's and Strassen's algorithms, quick exponentials, denormal numbers
};
DeviceTraits traits_of(const DeviceInfo& device);

inline constexpr int kFirstArchWithHalf = 60;     // DeviceInfo::arch of the first GPUs whose f16 is no slower than f32
inline constexpr int kFirstArchWithNarrowWeights = 80;  // whose tensor cores multiply bf16
inline constexpr int kFirstArchWithFloat8 = 89;   // DeviceInfo::arch of the first GPUs that multiply e4m3

inline constexpr std::int64_t kMaxTaps = 512;   // of a window that a CPU's convolutions take: rules make larger ones into products

// The features that every machine with this device has ("cpu": AVX2); 0 where there is nothing to restrict.
std::uint32_t common_features(std::string_view device);

}  // namespace tenfold::backends
