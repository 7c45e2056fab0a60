// Transposed convolution without overlap on AMX: of bf16, or of f32 in three terms of bf16 each.
#pragma once

#include <string>

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// What both ask besides the types of its operands.
Verdict conv_transpose_amx_supports(const Problem& problem);
Tactic conv_transpose_amx(std::string name, Verdict (*supports)(const Problem&));

}  // namespace tenfold::backends::cpu
