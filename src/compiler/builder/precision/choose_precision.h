// BuildConfig::auto_precision: the permissions that the device and the model suggest.
#pragma once

#include "builder/builder.h"

namespace tenfold::builder {

// Sets fp16, bf16 and int8, and notes what was chosen and why.
void choose_precision(BuildConfig& config, const ir::Graph& model, const backends::DeviceInfo& device, BuildReport& report);

}  // namespace tenfold::builder
