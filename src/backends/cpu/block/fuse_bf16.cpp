// Joins GELU with the conversions around it: from bf16 or f32 to bf16 in one loop, no more precise than its result.
#include "backends/cpu/block/lower.h"

namespace tenfold::backends::cpu {

void fuse_bf16(Lowered& program, const PointwiseTables& tables) {
  if (!tables.bf16) return;
  const std::vector<int> uses = program.use_counts();
  for (Item& item : program.items) {
    if (item.kernel != tables.f32_to_bf16 || program.is_input(item.in[0])) continue;
    const Item& activation = program.item(item.in[0]);
    if (activation.op != Op::gelu_erf || uses[static_cast<std::size_t>(item.in[0])] != 1) continue;
    const int x = activation.in[0];
    const bool widened = !program.is_input(x) && program.item(x).kernel == tables.cast->bf16_to_f32;
    item.op = Op::gelu_erf;   // of two bytes
    item.kernel = tables.bf16->gelu_erf[widened ? 1 : 0];
    item.in[0] = widened ? program.item(x).in[0] : x;
  }
}

}  // namespace tenfold::backends::cpu
