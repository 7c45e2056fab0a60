// CumSum: running sums along one axis, optionally from the end, optionally without the element itself.
#include "ops/reduce/running_common.h"

namespace tenfold::ir {
namespace {

void reference(Call& call) {
  run_along(call, {.real = [](double sum, double x) { return sum + x; }, .whole = [](auto sum, auto x) { return sum + x; }, .start = 0});
}

}  // namespace

OpDef op_cum_sum() {
  return running("CumSum", reference,
                 {"f32[2,3,5] axis=1", "f32[9]", "f32[4,7] axis=-1 exclusive=1", "f32[4,7] axis=-1 reverse=1",
                  "f32[4,7] axis=0 exclusive=1 reverse=1", "i64[3,8] axis=1", "u8[40]", "f16[3,9] axis=1", "f64[2,3]",
                  "f32[0,3] axis=1"});
}

}  // namespace tenfold::ir
