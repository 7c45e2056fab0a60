// The Problem that a step of a plan solves: asked of tactics when a plan is verified and when its kernels are opened.
#pragma once

#include "backends/tactic.h"
#include "ir/op_def.h"
#include "plan/plan.h"

namespace tenfold::plan {

// The numbers that Step::defines uses: symbols of the box first, then those that steps define.
std::vector<std::string> symbol_names(const Program& program);
// For each entry of the dims table the numbers of its symbols that steps define.
std::vector<std::vector<std::int32_t>> symbols_of_steps(const Program& program);

// References into `step`, `box` and `device`, which must outlive it. Throws plan_refused if the operator is unknown.
backends::Problem step_problem(const Step& step, const std::vector<ir::Dim>& dims, const ir::SymbolBounds& box,
                               const backends::DeviceInfo& device, const ir::Registry& registry);
// The symbols' ranges of a program: those of its profile box, and the bounds of symbols that steps define.
ir::SymbolBounds program_box(const Program& program);

}  // namespace tenfold::plan
