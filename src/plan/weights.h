// Where a loaded plan's weights live: in the mapped file, or in memory of their own.
#pragma once

#include <memory>
#include <span>

#include "plan/plan.h"
#include "tenfold/engine.h"

namespace tenfold::plan {

// Sets the plan's weights to `bytes`, which lie in the mapped file `owner`, or to a copy: if wanted, or if there is no owner. The file's
// pages leave this process as they are copied. Throws out_of_memory.
void place_weights(Plan& plan, std::span<const std::byte> bytes, std::shared_ptr<const void> owner, WeightsMode mode);
// Maps every page of them now, so that the first run need not.
void touch_weights(const Plan& plan) noexcept;

}  // namespace tenfold::plan
