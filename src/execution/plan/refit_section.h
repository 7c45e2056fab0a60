// The refit section of a plan file: what plan/refit.h holds, with the bytes of its tensors in a section of their own.
#pragma once

#include <span>
#include <string>

#include "plan/plan.h"

namespace tenfold::plan {

struct RefitBytes { std::string table, tensors; };
RefitBytes write_refit(const Refit& refit);
// Tensors borrow from `tensors`, kept alive by `owner`; without an owner they are copied. Throws plan_refused.
Refit read_refit(std::span<const std::byte> table, std::span<const std::byte> tensors, const std::shared_ptr<const void>& owner,
                 const Plan& plan);

}  // namespace tenfold::plan
