// Printing kernels for wgmma.
#include "backends/cuda/codegen/product/gemm_wgmma.h"

#include "backends/cuda/codegen/gelu.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/product/gemm_epilogue.h"
#include "backends/cuda/codegen/product/gemm_wgmma_parts.h"
#include "backends/cuda/codegen/wgmma_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int WgmmaTile::shared_bytes() const {
  const int slot_bytes = 64 * blocks * strip() * result_bytes;
  return 1024 + stages * (rows() + columns) * 128 + groups * slots * slot_bytes + 8 * (2 * stages + 2 * groups * slots);
}

int staged_operand(const GemmProblem& p) {
  for (std::size_t o = 0; o < p.epilogue.size(); ++o)
    if (p.epilogue[o].kind == EpilogueKind::whole && p.epilogue[o].dtype == p.out) return static_cast<int>(o);
  return -1;
}

std::string generate_wgmma(const GemmProblem& p, const WgmmaTile& tile) {
  KernelText text;
  const int staged = staged_operand(p);
  define_strips(text, p.out);
  text.define("SUM", compute_type(p.sum())), text.define("N", p.n), text.define("BLOCKS", tile.blocks);
  text.define("COLUMNS", tile.columns), text.define("WARPGROUPS", tile.groups), text.define("ALTERNATE", tile.alternate ? 1 : 0);
  text.define("STAGES", tile.stages), text.define("SLOTS", tile.slots), text.define("STRIP", tile.strip());
  text.define("STAGED", staged >= 0 ? 1 : 0), text.define("WIDTH", 2), text.define("MOMENTS", p.moments ? 1 : 0);
  const WgmmaLoads step = p.is_conv ? conv_loads(p) : matrix_loads(p);
  text.define("kSteps", step.steps);
  text.define_code("PREPARE_A", step.place), text.define_code("LOAD_A", step.loads), text.define_code("LOAD_B", step.weights);
  text.define_code("LOAD_ROW_OPERANDS", load_rows(p)), text.define_code("LOAD_COLUMN_OPERANDS", load_columns(p));
  text.define_code("SHARE_COLUMN_OPERANDS", share_columns(p));
  GemmProblem shown = p;
  const std::optional<GeluEpilogue> gelu = p.body && !p.moments ? gelu_epilogue(*p.body) : std::nullopt;
  if (gelu) shown.body = &gelu->before;
  text.define("PUT", gelu ? "put_gelu" : "put");
  text.define_code("EPILOGUE", print_epilogue(
                                   shown, staged, [](const std::string& y) { return cat("y[v] = ", y, ";"); },
                                   [](const std::string& operand) { return cat("row", operand, "[i][h]"); },
                                   [&](const std::string& operand) {
                                     return held_by_lanes(p.epilogue[std::stoul(operand)]) ? cat("column", operand, "[v]") : std::string();
                                   }));
  if (gelu) define_gelu(text, gelu->factor);
  text.declare(wgmma_text("wgmma", tile.columns, p.in, p.weight));
  return text.of("product/gemm_wgmma.cu");
}

}  // namespace tenfold::backends::cuda
