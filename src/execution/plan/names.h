// The model's names in a plan: which of its nodes each step computes, which of its tensors each operand is, and who removed the rest.
//
// They are an optional section of their own, and stay bytes until somebody asks: no run reads them. A list of names is written against
// the name before it (length in common, the rest), for names of neighbors begin alike; a list of numbers as its steps upwards.
#pragma once

#include "ir/names.h"
#include "plan/plan.h"

namespace tenfold::plan {

struct StepNames {
  ir::NameList nodes;
  std::vector<ir::NameList> operands;   // tensors: of in, then of out
};
struct ProgramNames {
  std::vector<StepNames> steps;         // in the order of inspection: a branch's and a loop's own steps follow it
  std::vector<ir::Removed> removed;
};
struct Names {
  ir::NameTable table;
  std::vector<ProgramNames> programs;   // as the plan's
};

std::string write_names(const Names& names);
// Throws plan_refused where the bytes are not what write_names writes for a plan of such steps. No bytes: no names, no programs.
Names read_names(const Plan& plan);

// The model's nodes behind a step of the plan: ", computes 'conv1', 'relu1'"; empty where it keeps none. Reads all names: for errors.
std::string computed_text(const Plan& plan, const Step& step);

// Calls `visit(step)` in the order of inspection.
template <class Visit>
void each_step(const Program& program, const Visit& visit) {
  for (const Step& step : program.steps) {
    visit(step);
    for (const Program& nested : step.programs) each_step(nested, visit);
  }
}

}  // namespace tenfold::plan
