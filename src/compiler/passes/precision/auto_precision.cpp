#include "passes/precision/auto_precision.h"

#include "backends/device_traits.h"
#include "base/check.h"

namespace tenfold::passes {
namespace {

constexpr int kFirstWithInt8 = 75, kFirstWithFp16 = 70;   // whose tensor cores multiply it; 7.0 and 7.2 have fp16 alone

PrecisionChoice of_gpu(int arch, bool has_ranges) {
  const std::string gpu = cat("compute capability ", arch / 10, ".", arch % 10);
  if (arch >= kFirstWithInt8 && has_ranges) return {true, false, true, gpu + " has tensor cores for int8; what has no range is fp16"};
  if (arch >= kFirstWithInt8)
    return {true, false, false, gpu + " has tensor cores for int8, but there is no Q/DQ, calibration cache or data: fp16"};
  if (arch >= kFirstWithFp16) return {true, false, false, gpu + " has tensor cores for fp16, not for int8"};
  return {false, false, false, gpu + " has no tensor cores: fp32"};
}

PrecisionChoice of_cpu(std::uint32_t features, bool has_ranges) {
  using namespace backends;
  const bool amx_int8 = (features & kAmxInt8) != 0, amx_bf16 = (features & kAmxBf16) != 0, vnni = (features & kVnni) != 0;
  const char* const units = amx_int8 ? "AMX" : "VNNI";
  if ((amx_int8 || vnni) && has_ranges) return {false, false, true, cat("this CPU has ", units, " for int8; what has no range is fp32")};
  const std::string missing = amx_int8 || vnni ? cat(units, " for int8, but there is no Q/DQ, calibration cache or data")
                                               : std::string("neither VNNI nor AMX for int8");
  if (amx_bf16) return {false, true, false, cat("this CPU has ", missing, ": bf16, by AMX")};
  return {false, false, false, cat("this CPU has ", missing, ": fp32")};
}

}  // namespace

PrecisionChoice auto_precision(const backends::DeviceInfo& device, bool has_ranges) {
  switch (backends::kind_of(device)) {
    case backends::DeviceKind::gpu: return of_gpu(device.arch, has_ranges);
    case backends::DeviceKind::cpu: return of_cpu(device.features, has_ranges);
    case backends::DeviceKind::none: break;
  }
  return {false, false, false, "nothing is known of this device: fp32"};
}

}  // namespace tenfold::passes
