// GemmBf16Plan::K::in_pieces: k comes in pieces of kc outside of all other loops. The sums of all rows and panels of the call wait in
// memory from piece to piece; the last one's micro-tiles get their epilogue.
#include "backends/cpu/gemm/bf16/gemm_bf16_epilogues.h"
#include "backends/cpu/gemm/bf16/gemm_bf16_operands.h"

namespace tenfold::backends::cpu {
namespace {

template <class Epilogue>
void loops(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept {
  constexpr std::int64_t kMr = GemmBf16Plan::kMr, kNr = GemmBf16Plan::kNr;
  const GemmBf16Scratch scratch(plan, call);
  const GemmBf16Kernels& kernels = gemm_bf16_kernels();
  const std::int64_t rows = call.rows.a.count, pairs = ceil_div(rows, kMr);
  GemmBf16Operands operands(plan, call, scratch.split);
  Epilogue epilogue(plan, call, scratch);
  for (std::int64_t pc = 0; pc < plan.k_pieces; ++pc) {
    operands.begin_piece(pc);
    for (std::int64_t jr = call.first_panel; jr < call.last_panel; ++jr) {
      operands.begin_panels(jr);
      for (std::int64_t ir = 0; ir < rows; ir += kMr) {
        float* const sums = scratch.sums + ((jr - call.first_panel) * pairs + ir / kMr) * kMr * kNr;
        operands.begin_rows(0, ir, jr, jr + 1);
        operands.use_panel(jr);
        if (pc + 1 < plan.k_pieces) {
          kernels.multiply(operands.tile(), sums, kNr);
          continue;
        }
        epilogue.begin(0, ir, jr, jr + 1, sums);
        epilogue.multiply(operands.tile(), jr);
        epilogue.end();
      }
    }
  }
  epilogue.finish();
}

}  // namespace

void gemm_bf16_k_pieces(const GemmBf16Plan& plan, const GemmBf16Call& call) noexcept {
  plan.epilogue == GemmBf16Plan::Epilogue::beside_next ? loops<GemmBf16EpilogueBesideNext>(plan, call)
                                                       : loops<GemmBf16EpilogueAfterBlock>(plan, call);
}

}  // namespace tenfold::backends::cpu
