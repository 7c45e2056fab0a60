// The part of the load verifier that looks at one step. For verify*.cpp only.
#pragma once

#include "backends/tactic_set.h"
#include "ir/op_def.h"
#include "plan/plan.h"

#include <set>

namespace tenfold::plan {

// What the steps of one top-level program share.
struct VerifyScope {
  const Plan& plan;
  const backends::TacticSet& tactics;
  const ir::Registry& registry;
  const std::vector<ir::Dim>& dims;
  ir::SymbolBounds box;
  const Program& top;
  std::size_t input_symbols = 0;                                // symbols below this number come from shapes of inputs
  std::vector<ir::Dim> symbols = {};                            // by number
  std::vector<std::vector<std::int32_t>> defined_by_steps = {}; // of each dim: its symbols that steps define
  std::vector<std::vector<std::int64_t>> corners = {};          // values of the dims table at both ends of the box
};

// Symbols that steps define and that have been defined where the verifier stands.
using Known = std::set<std::int32_t>;

template <class... Args>
void must(bool condition, const Args&... args) { require(condition, ErrorKind::plan_refused, args...); }

// Steps in order, each after those that define the symbols of its operands.
void verify_program(const VerifyScope& scope, const Program& program, Known known);
// The programs that a branch or a loop owns.
void verify_branch(const VerifyScope& scope, const Step& step, const Known& known);
void verify_loop(const VerifyScope& scope, const Step& step, const Known& known);
void verify_formals(const VerifyScope& scope, const Program& program);
// No operand has a size that is not known yet; afterwards `known` holds what the step defines.
void verify_order(const VerifyScope& scope, const Step& step, Known& known);
// Indices, strides and place of an operand in `program`; `written` for results.
void verify_operand(const VerifyScope& scope, const Program& program, const Operand& operand, bool written);
// Every operand that the step's operator needs, and each that its body reads, has a place.
void verify_present(const VerifyScope& scope, const Step& step);
// A step's attributes and result types against its operator.
void verify_meaning(const VerifyScope& scope, const Step& step);
// The tactic exists here and accepts the problem, the config, the layouts, the workspace and the packed operands.
void verify_tactic(const VerifyScope& scope, const Step& step);
// Results overlap neither operands, unless the tactic allows the very same place, nor each other, nor the workspace.
void verify_overlaps(const VerifyScope& scope, const Step& step);

}  // namespace tenfold::plan
