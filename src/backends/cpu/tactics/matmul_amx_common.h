// What products with a constant matrix on AMX tiles share, in one part of bf16 or in two.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// Whether operands are those of such a product, whatever their types.
Verdict matmul_amx_supported(const Problem& problem);
// All but what it supports.
Tactic matmul_amx(const char* name, int version);

}  // namespace tenfold::backends::cpu
