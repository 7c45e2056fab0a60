// From a plan to an opened one.
#pragma once

#include "runtime/engine/opened.h"

namespace tenfold::runtime {

// Throws plan_refused with both feature sets when this machine lacks some that the plan uses, or is of another kind.
void check_machine(const plan::Plan& plan, const backends::DeviceInfo& here);
// Opens every kernel of a plan on this machine; `constants`: its weights, if they are in place already.
std::shared_ptr<EngineState> open_engine(plan::Plan plan, const LoadOptions& options, std::shared_ptr<backends::Backend> backend,
                                         std::shared_ptr<const void> constants = nullptr);

}  // namespace tenfold::runtime
