// Printing kernels for wgmma.
#include "backends/cuda/codegen/gemm/gemm_wgmma.h"

#include "backends/cuda/codegen/gelu.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "backends/cuda/codegen/gemm/gemm_wgmma_parts.h"
#include "backends/cuda/codegen/wgmma_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int WgmmaTile::shared_bytes() const {
  const int slot_bytes = 64 * blocks * strip() * result_bytes;
  return 1024 + stages * (rows() + columns) * row_bytes + groups * slots * slot_bytes + 8 * (2 * stages + 2 * groups * slots);
}

int staged_operand(const GemmProblem& p) {
  const auto is_byte = [](DType t) { return t == DType::u8 || t == DType::i8; };
  for (std::size_t o = 0; o < p.epilogue.size(); ++o)
    if (const DType t = p.epilogue[o].dtype; p.epilogue[o].kind == EpilogueKind::whole && (t == p.out || (is_byte(t) && is_byte(p.out))))
      return static_cast<int>(o);
  return -1;
}

namespace {

// Whether sums stay below 2^22, whatever the operands are.
bool has_small_sums(const GemmProblem& p) { return p.sum() == DType::i32 && p.k * 255 * 128 < 1 << 22; }

// The body for sums that come as floats; nothing if it reads them in another way.
std::optional<ir::Body> of_float_sums(ir::Body body) {
  for (ir::Instr& i : body.code) {
    const bool reads[] = {ir::arity(i.prim) > 0 && i.a == 0, ir::arity(i.prim) > 1 && i.b == 0, ir::arity(i.prim) > 2 && i.c == 0};
    if ((reads[0] || reads[1] || reads[2]) && (i.prim != ir::Prim::cast || i.dtype != DType::f32)) return {};
  }
  if (body.outputs[0] == 0) return {};
  body.inputs[0] = DType::f32;
  return body;
}

}  // namespace

std::string generate_wgmma(const GemmProblem& p, const WgmmaTile& tile) {
  KernelText text;
  const int staged = staged_operand(p);
  GemmProblem shown = p;
  const std::optional<GeluEpilogue> gelu = p.body && !p.moments ? gelu_epilogue(*p.body) : std::nullopt;
  const std::optional<ByteRounding> bytes = p.body ? byte_rounding(*p.body) : std::nullopt;
  std::optional<ir::Body> body;   // of which stores do the rest
  if (p.body) body = gelu ? gelu->before : bytes ? before_rounding(*p.body, *bytes) : *p.body;
  std::optional<ir::Body> of_floats = body && has_small_sums(p) ? of_float_sums(*body) : std::nullopt;
  if (of_floats) body = of_floats;
  if (body) shown.body = &*body;
  define_strips(text, p.out, bytes);
  text.define("SMALL_SUMS", of_floats ? 1 : 0), text.define("ROW_BYTES", tile.row_bytes);
  text.define("SUM", compute_type(p.sum())), text.define("N", p.n), text.define("BLOCKS", tile.blocks);
  text.define("COLUMNS", tile.columns), text.define("WARPGROUPS", tile.groups), text.define("ALTERNATE", tile.alternate ? 1 : 0);
  text.define("STAGES", tile.stages), text.define("SLOTS", tile.slots), text.define("STRIP", tile.strip());
  text.define("STAGED_AS", storage_type(staged >= 0 ? p.epilogue[static_cast<std::size_t>(staged)].dtype : p.out));
  text.define("STAGED", staged >= 0 ? 1 : 0), text.define("WIDTH", 2), text.define("MOMENTS", p.moments ? 1 : 0);
  const WgmmaLoads step = p.is_conv ? conv_loads(p) : matrix_loads(p);
  text.define("kSteps", step.steps);
  text.define_code("PREPARE_A", step.place), text.define_code("LOAD_A", step.loads), text.define_code("LOAD_B", step.weights);
  text.define_code("LOAD_ROW_OPERANDS", load_rows(p)), text.define_code("LOAD_COLUMN_OPERANDS", load_columns(p));
  text.define_code("SHARE_COLUMN_OPERANDS", share_columns(p));
  text.define("PUT", gelu ? "put_gelu" : "put");
  text.define_code("EPILOGUE", print_epilogue(
                                   shown, staged, [](const std::string& y) { return cat("y[v] = ", y, ";"); },
                                   [](const std::string& operand) { return cat("row", operand, "[i][h]"); },
                                   [&](const std::string& operand) {
                                     return held_by_lanes(p.epilogue[std::stoul(operand)]) ? cat("column", operand, "[v]") : std::string();
                                   }));
  if (gelu) define_gelu(text, *gelu);
  text.declare(wgmma_text("wgmma", tile.columns, p.in, p.weight));
  return text.of("gemm/gemm_wgmma.cu");
}

}  // namespace tenfold::backends::cuda
