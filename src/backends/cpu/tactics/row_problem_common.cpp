// Checks that tactics on rows and on movement share.
#include "backends/cpu/tactics/row_problem_common.h"

namespace tenfold::backends::cpu {

Verdict dense_plain(const Problem& p) {
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& operand : *side) {
      if (operand.missing) continue;
      if (!operand.dense) return Verdict::no("an operand is strided");
      if (!same_as_plain(operand.layout, operand.dims)) return Verdict::no("an operand is not in plain layout");
    }
  return Verdict::ok();
}

Verdict dense_plain_f32(const Problem& p) {
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& operand : *side)
      if (!operand.missing && operand.dtype != DType::f32)
        return Verdict::no(cat("an operand is ", name(operand.dtype), ", f32 is needed"));
  return dense_plain(p);
}

}  // namespace tenfold::backends::cpu
