// Which products may take operands as bf16, or f32 as several terms of bf16.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// 2: operands are f32 and may not be rounded to bf16, so that each is taken as two terms. 1: as bf16.
int bf16_terms(const Problem& problem);
// Whether a product may compute in bf16 on this machine: its operands are bf16, or f32 where the precision stage permits to round them.
Verdict bf16_product(const Problem& problem);
// Whether it may compute in several terms of bf16 for each f32: both operands are f32, and nothing permits to round them.
Verdict split_gemm(const Problem& problem);

}  // namespace tenfold::backends::cpu
