// Where a loaded plan's weights live: in the mapped file, or in memory of the process.
#pragma once

#include <memory>
#include <span>

#include "plan/plan.h"
#include "tenfold/engine.h"

namespace tenfold::plan {

// Sets the plan's weights to `bytes`: where they lie in `owner`, which is memory of this process alone (`own_memory`) or else a mapped
// file that `mode` allows, and else in a copy. Throws out_of_memory.
void place_weights(Plan& plan, std::span<const std::byte> bytes, std::shared_ptr<const void> owner, WeightsMode mode, bool own_memory);
// Maps every page of them now, so that the first run need not.
void touch_weights(const Plan& plan) noexcept;

}  // namespace tenfold::plan
