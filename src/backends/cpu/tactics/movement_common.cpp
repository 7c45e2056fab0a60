// Checks and formats that movement tactics share.
#include "backends/cpu/tactics/movement_common.h"

namespace tenfold::backends::cpu {

Verdict can_move(const Problem& p) {
  if (Verdict v = needs_avx2(p); !v) return v;
  if (Verdict v = no_epilogue(p); !v) return v;
  for (const auto* side : {&p.in, &p.out})
    for (const OperandDesc& operand : *side) {
      if (operand.missing) continue;
      if (operand.dtype == DType::string || bits(operand.dtype) < 8) return Verdict::no(cat("elements of type ", name(operand.dtype)));
      if (operand.dims.size() > kMaxRank) return Verdict::no(cat("rank ", operand.dims.size(), ", ", kMaxRank, " is possible"));
    }
  return Verdict::ok();
}

std::vector<Formats> same_layouts(const Problem& p) {
  std::vector<Formats> all{{std::vector<Layout>(p.in.size(), kPlain), std::vector<Layout>(p.out.size(), kPlain)}};
  const std::size_t rank = p.out[0].dims.size();
  if (rank < 3) return all;
  Formats last = all[0];
  for (std::size_t i = 0; i < p.in.size(); ++i)
    if (!p.in[i].missing && p.in[i].dims.size() == rank && p.in[i].dtype == p.out[0].dtype) last.in[i] = kChannelsLast;
  for (Layout& layout : last.out) layout = kChannelsLast;
  all.push_back(std::move(last));
  return all;
}

std::shared_ptr<MoveKernel> open_move(const Problem& p, ir::Ints numbers) {
  return std::make_shared<MoveKernel>(
      MoveKernel{{&pick(p, tenfold_move_avx2, tenfold_move_avx512), bits(p.out[0].dtype) / 8}, std::move(numbers)});
}

}  // namespace tenfold::backends::cpu
