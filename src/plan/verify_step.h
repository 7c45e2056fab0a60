// The part of the load verifier that looks at one step. For verify*.cpp only.
#pragma once

#include "backends/backend.h"
#include "ir/op_def.h"
#include "plan/plan.h"

namespace tenfold::plan {

// What the steps of one top-level program share.
struct VerifyScope {
  const Plan& plan;
  const backends::Backend& backend;
  const ir::Registry& registry;
  const std::vector<ir::Dim>& dims;
  ir::SymbolBounds box;
  std::size_t symbols = 0;                                      // that steps may define
  std::vector<std::vector<std::int64_t>> corners;               // values of the dims table at both ends of the box
};

template <class... Args>
void must(bool condition, const Args&... args) { require(condition, ErrorKind::plan_refused, args...); }

// Indices, strides and place of an operand in `program`; `written` for results.
void verify_operand(const VerifyScope& scope, const Program& program, const Operand& operand, bool written);
// A step's attributes and result types against its operator.
void verify_meaning(const VerifyScope& scope, const Step& step);
// The tactic exists here and accepts the problem, the config, the layouts, the workspace and the packed operands.
void verify_tactic(const VerifyScope& scope, const Step& step);
// Results overlap neither operands, unless the tactic allows the very same place, nor each other, nor the workspace.
void verify_overlaps(const VerifyScope& scope, const Step& step);

}  // namespace tenfold::plan
