// What turning heads asks of a problem.
#pragma once

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/tactic.h"

namespace tenfold::backends::cuda {

// Tables, and positions that pick their rows unless they are missing.
struct RotaryTables {
  const OperandDesc &cosines, &sines;
  const OperandDesc* positions;
};
// Of x [batch, heads, rows, size], or [batch, rows, heads * size] with `num_heads`. What the operator wants of its tables is compared by
// the reference alone, unless the types say it.
Verdict can_turn(const Problem& p, const OperandDesc& x, const RotaryTables& tables, std::int64_t num_heads);
void define_rotation(KernelText& text, const Problem& p);   // INTERLEAVED and TURNED

// Whether rows may be written into the cache along this axis.
Verdict can_scatter(const Problem& p, const OperandDesc& cache, const OperandDesc& rows, std::size_t axis);

}  // namespace tenfold::backends::cuda
