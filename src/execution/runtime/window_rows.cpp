// window_rows(): which rows the steps before the newest row read.
#include "runtime/engine/engine_access.h"
#include "runtime/engine/opened.h"
#include "tenfold/bindings.h"

namespace tenfold {

WindowRows window_rows(const Engine& engine) noexcept {
  for (const plan::Program& program : runtime::state_of(engine)->plan.programs)
    if (program.precomputed > 0) return {program.rows_input, program.rows_axis};
  return {};
}

}  // namespace tenfold
