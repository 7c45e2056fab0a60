// Verdicts on products of bf16.
#include "backends/cpu/gemm/bf16/bf16_verdicts.h"

namespace tenfold::backends::cpu {

int bf16_terms(const Problem& p) {
  const bool wide = p.in[0].dtype == DType::f32 && p.in[1].dtype == DType::f32;
  return wide && !p.numerics.allows(ir::Rounding::bf16) ? 2 : 1;
}

Verdict bf16_product(const Problem& p) {
  const DType a = p.in[0].dtype, b = p.in[1].dtype;
  if (a != DType::f32 && a != DType::bf16) return Verdict::no("the left operand is neither f32 nor bf16");
  if (b != DType::f32 && b != DType::bf16) return Verdict::no("the right operand is neither f32 nor bf16");
  if ((a == DType::f32 || b == DType::f32) && !p.numerics.allows(ir::Rounding::bf16))
    return Verdict::no("bf16 is not permitted here");
  return Verdict::only_if((p.device->features & kAmxBf16) != 0, "this machine has no AMX");
}

Verdict split_gemm(const Problem& p) {
  if (p.in[0].dtype != DType::f32 || p.in[1].dtype != DType::f32) return Verdict::no("operands are not f32");
  if (bf16_terms(p) != 2) return Verdict::no("operands may be rounded to bf16");
  return Verdict::only_if((p.device->features & kAmxBf16) != 0, "this machine has no AMX");
}

}  // namespace tenfold::backends::cpu
