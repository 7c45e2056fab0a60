// GemmBf16Plan::K::whole: micro-tiles are summed up over all of k in one call.
#include "backends/cpu/gemm/bf16/gemm_bf16_epilogues.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_operands.h"

namespace tenfold::backends::cpu {
namespace {

template <class Epilogue>
void loops(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept {
  const GemmBf16Scratch scratch(plan, call);
  const GemmBf16A& a = call.rows.a;
  const std::int64_t planes = a.planes(), panels = plan.nc() / GemmBf16Plan::kNr;
  GemmBf16Operands operands(plan, call, scratch.split);
  Epilogue epilogue(plan, call, scratch);
  for (std::int64_t jc = call.first_panel; jc < call.last_panel; jc += panels) {
    const std::int64_t last = std::min(jc + panels, call.last_panel);
    operands.begin_panels(jc);
    for (std::int64_t plane = 0; plane < planes; ++plane)
      for (std::int64_t ir = 0; ir < a.count; ir += GemmBf16Plan::kMr) {
        operands.begin_rows(plane, ir, jc, last);
        epilogue.begin(plane, ir, jc, last, scratch.sums);
        for (std::int64_t jr = jc; jr < last; ++jr) {
          operands.use_panel(jr);
          epilogue.multiply(operands.tile(), jr);
        }
        epilogue.end();
      }
  }
  epilogue.finish();
}

}  // namespace

void gemm_bf16_k_whole(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept {
  plan.epilogue == GemmBf16Plan::Epilogue::beside_next ? loops<GemmBf16EpilogueBesideNext>(plan, call)
                                                       : loops<GemmBf16EpilogueAfterBlock>(plan, call);
}

}  // namespace tenfold::backends::cpu
