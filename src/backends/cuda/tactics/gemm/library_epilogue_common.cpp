// Reading epilogues for libraries.
#include "backends/cuda/tactics/gemm/library_epilogue_common.h"

#include "base/check.h"

namespace tenfold::backends::cuda {

Verdict match_library_epilogue(const Problem& p, TakeAddend take, LibraryEpilogue& epilogue) {
  if (!p.body) return Verdict::ok();
  const ir::Body& body = *p.body;
  const auto inputs = static_cast<std::uint16_t>(body.inputs.size());
  std::vector<bool> zero(static_cast<std::size_t>(body.value_count()), false);
  std::uint16_t current = 0;
  for (std::size_t k = 0; k < body.code.size(); ++k) {
    const ir::Instr& i = body.code[k];
    const auto value = static_cast<std::uint16_t>(inputs + k);
    if (i.prim == ir::Prim::constant) {
      zero[value] = i.imm == 0;
      continue;
    }
    const bool commutes = i.a == current || i.b == current;
    const std::uint16_t other = i.a == current ? i.b : i.a;
    if (i.prim == ir::Prim::add && commutes && other > 0 && other < inputs && !epilogue.relu) {
      const int operand = p.anchor_inputs + other - 1;
      const OperandDesc& o = p.in[static_cast<std::size_t>(operand)];
      if (o.dtype != p.out[0].dtype || !o.dense) return Verdict::no("an addend has another type or is strided");
      if (!take(p, operand, epilogue)) return Verdict::no("an addend is neither a bias nor of the result's shape");
    } else if (i.prim == ir::Prim::max && commutes && zero[other]) {
      epilogue.relu = true;
    } else {
      return Verdict::no(cat("the epilogue has ", ir::name(i.prim)));
    }
    current = value;
  }
  return Verdict::only_if(body.outputs.size() == 1 && body.outputs[0] == current, "the epilogue gives something else");
}

}  // namespace tenfold::backends::cuda
