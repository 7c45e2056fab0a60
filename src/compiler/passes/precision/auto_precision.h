// Which types pay on a device: what BuildConfig::auto_precision chooses by.
#pragma once

#include <string>

#include "backends/device_info.h"

namespace tenfold::passes {

struct PrecisionChoice {
  bool fp16 = false, bf16 = false, int8 = false;
  std::string why;   // a sentence
  bool operator==(const PrecisionChoice&) const = default;
};
// `has_ranges`: the model is quantized, or has a calibration. A function of the device's description alone: GPUs by compute capability,
// CPUs by VNNI and AMX.
PrecisionChoice auto_precision(const backends::DeviceInfo& device, bool has_ranges);

}  // namespace tenfold::passes
