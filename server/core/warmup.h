// What a model computes before it serves.
#pragma once

#include "core/models.h"

namespace tenfold::server {

// Runs the sample as often as it says. Throws Error with the sample's name for one that fails.
void warm_up(ServedInstance& instance, const Warmup& warmup, std::span<const BindingInfo> bindings);

}  // namespace tenfold::server
