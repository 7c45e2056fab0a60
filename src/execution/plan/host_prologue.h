// The front of a program: steps at its start that run on the host and read inputs and constants alone. On a device with memory of its own
// they can run before anything is asked of it.
#pragma once

#include <algorithm>

#include "plan/plan.h"

namespace tenfold::plan {

inline bool may_stand_in_prologue(const Step& step) {
  const auto lies_in = [](const std::vector<Operand>& operands, std::initializer_list<Space> spaces) {
    return std::all_of(operands.begin(), operands.end(), [&](const Operand& o) {
      return std::find(spaces.begin(), spaces.end(), o.at.space) != spaces.end();
    });
  };
  return step.kind == StepKind::host && lies_in(step.in, {Space::none, Space::weights, Space::binding}) &&
         lies_in(step.out, {Space::none, Space::arena});
}

inline std::size_t prologue_steps(const Program& top) {
  const auto end = std::find_if_not(top.steps.begin(), top.steps.end(), may_stand_in_prologue);
  return static_cast<std::size_t>(end - top.steps.begin());
}

}  // namespace tenfold::plan
