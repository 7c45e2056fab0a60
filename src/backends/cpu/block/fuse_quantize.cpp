// Joins the quotient by a constant scale, its rounding, the sum with a constant zero point and the saturation to bytes.
#include <algorithm>
#include <cmath>

#include "backends/cpu/block/lower.h"

namespace tenfold::backends::cpu {
namespace {

bool inverts(double scale) { return std::fabs(scale) > 1e-30 && std::fabs(scale) < 1e30; }   // as the kernel needs it
bool is_zero_point(double value) { return value == std::nearbyint(value) && std::fabs(value) <= 255; }

}  // namespace

void fuse_quantize(Lowered& program, const PointwiseTables& tables) {
  const std::vector<int> uses = program.use_counts();
  const auto is = [&](int v, Op op) {
    return !program.is_input(v) && program.item(v).op == op && program.item(v).lane == LaneType::f32 && !program.item(v).rounded &&
           uses[static_cast<std::size_t>(v)] == 1;
  };
  for (Item& item : program.items) {
    const auto& saturate = tables.cast->saturate[static_cast<int>(LaneType::f32)];
    const bool to_u8 = item.kernel == saturate[static_cast<int>(LaneType::u8)],
               to_i8 = item.kernel == saturate[static_cast<int>(LaneType::i8)];
    if (item.op != Op::saturate || (!to_u8 && !to_i8)) continue;
    int x = item.in[0], zero = -1;
    if (is(x, Op::add)) {
      const int* sum = program.item(x).in;
      const int k = program.is_constant(sum[0]) ? 0 : 1;
      if (!program.is_constant(sum[k]) || !is_zero_point(program.item(sum[k]).value)) continue;
      zero = sum[k], x = sum[1 - k];
    }
    if (!is(x, Op::round_even) || !is(program.item(x).in[0], Op::div)) continue;
    const int* quotient = program.item(program.item(x).in[0]).in;
    if (program.is_constant(quotient[0]) || !program.is_constant(quotient[1]) || !inverts(program.item(quotient[1]).value)) continue;
    item.in[0] = quotient[0], item.in[1] = quotient[1], item.in[2] = std::max(zero, 0);
    item.arity = zero < 0 ? 2 : 3;
    item.kernel = (to_u8 ? tables.quantize->to_u8 : tables.quantize->to_i8)[zero < 0 ? 0 : 1];
  }
}

}  // namespace tenfold::backends::cpu
