// Channels-last convolution on AMX: of bf16, or of f32 in three terms of bf16.
#pragma once

#include <string>

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// What both ask of a convolution besides the types of its operands.
Verdict conv_amx_supports(const Problem& problem);
Tactic conv_amx(std::string name, Verdict (*supports)(const Problem&));

}  // namespace tenfold::backends::cpu
