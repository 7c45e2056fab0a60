#include "plan/step_types.h"

#include "ir/op_def.h"

namespace tenfold::plan {
namespace {

// Kernels read 16 and 8 bits of floats and sum in f32; integers of 8 bits are summed in 32.
DType sum_of(DType compute) {
  if (compute == DType::i8 || compute == DType::u8) return DType::i32;
  return is_float(compute) && bits(compute) < 32 ? DType::f32 : compute;
}

std::optional<DType> rounded_to(const ir::Numerics& numerics) {
  if (numerics.round_to == ir::Rounding::f16) return DType::f16;
  if (numerics.round_to == ir::Rounding::bf16) return DType::bf16;
  return {};
}

std::optional<DType> float_among(const std::vector<Operand>& operands) {
  for (const Operand& o : operands)
    if (o.at.space != Space::none && is_float(o.dtype)) return o.dtype;
  return {};
}

bool sums(const ir::OpDef& def) {
  const ir::OpTraits& t = def.traits;
  return t.gemm_kind != ir::GemmKind::none || t.accumulates || t.reduction != ir::ReductionKind::none || t.permission.rounding ||
         t.permission.fast_exp;
}

}  // namespace

StepTypes types_of(const Step& step) {
  StepTypes types;
  if (!step.out.empty() && is_memory(step.out[0].at.space)) types.storage = step.out[0].dtype;
  const ir::OpDef* def = ir::Registry::builtin().find(step.op);
  const bool computes = step.kind == StepKind::kernel || step.kind == StepKind::host;
  if (!def || !computes || def->traits.movement != ir::Movement::none || step.op == "Cast") return types;
  if (def->traits.gemm_kind != ir::GemmKind::none || def->traits.accumulates) {
    const DType operand = step.in.empty() ? DType::f32 : step.in[0].dtype;
    types.compute = operand == DType::u8 ? DType::i8 : operand;
  } else {
    types.compute = float_among(step.in);
    if (!types.compute) types.compute = float_among(step.out);
    if (!types.compute && !step.in.empty() && is_memory(step.in[0].at.space)) types.compute = step.in[0].dtype;
  }
  if (const std::optional<DType> to = rounded_to(step.numerics); to && types.compute == DType::f32) types.compute = to;
  if (types.compute && sums(*def)) types.sum = sum_of(*types.compute);
  return types;
}

}  // namespace tenfold::plan
