// A plan in words, as data, and as JSON in the form of trtexec's --exportLayerInfo.
#pragma once

#include <string>

#include "plan/names.h"
#include "plan/plan.h"
#include "tenfold/inspect.h"

namespace tenfold::plan {

std::string inspect_text(const Plan& plan, int detail = 1);   // 0: one line for each step; 1: with operands
std::string inspect_json(const Plan& plan);
PlanInspection inspect_data(const Plan& plan);

// Of a plan that no verifier has seen; throws plan_refused where a step refers to what is not there.
PlanFileInspection inspect_unopened(const Plan& plan);

// Shared by the forms.
std::string type_text(const Program& top, const Operand& operand);    // "f32[batch,384]@cl"
std::string place_text(const Plan& plan, const Operand& operand);     // "arena+512", "constant 3", "binding 0", "-"
std::string_view kind_text(StepKind kind);
std::string listed(const ir::NameTable& table, const ir::NameList& nodes);   // "conv1, relu1"
// The model's nodes and tensors as they are in one program, whose steps are there already.
void add_names(PlanProgram& data, const Names& names, const ProgramNames& of);

}  // namespace tenfold::plan
