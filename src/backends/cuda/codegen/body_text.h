// A Body as CUDA C: one statement for each instruction.
#pragma once

#include <string>
#include <vector>

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// Whether every instruction has a form in CUDA C; bodies with reductions have none here.
Verdict can_print(const ir::Body& body);
// Statements that compute `body` from expressions in computing types. `name` precedes the number of each value; `outputs`
// becomes the expressions of the results. Values of f16 and bf16 are computed, and kept, as float; `wide`: and casts to them round nothing.
std::string print_body(const ir::Body& body, const std::vector<std::string>& inputs, const std::string& name, const std::string& indent,
                       std::vector<std::string>& outputs, bool wide = false);

}  // namespace tenfold::backends::cuda
