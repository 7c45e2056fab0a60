// Printing products: a pipeline of tiles in shared memory, fragments by ldmatrix, and an epilogue over finished rows.
#include "backends/cuda/codegen/gemm/gemm.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/mma_type.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "backends/cuda/codegen/gemm/gemm_rows.h"
#include "base/check.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kTileRow = 128;  // bytes of a tile's row, whose eight pieces are permuted so that no banks collide

}  // namespace

std::int64_t GemmProblem::phase_count() const {
  return has_phases() ? std::ssize(phases[0]) * std::ssize(phases[1]) * std::ssize(phases[2]) : 1;
}

int GemmProblem::spatial_rank() const {
  for (std::size_t d = 0; d < 2; ++d)
    if (in_extent[d] != 1 || kernel[d] != 1 || begin[d] != 0 || out_extent[d] != 1) return 3 - static_cast<int>(d);
  return 1;
}

int GemmTile::shared_bytes() const { return std::max(stages * (rows + columns) * kTileRow, rows * (columns + 4) * 4); }

std::int64_t blocks(const GemmProblem& p, const GemmTile& tile, std::int64_t m) {
  return ceil_div(m, std::int64_t{tile.rows}) * ceil_div(p.n, std::int64_t{tile.columns}) * p.groups * p.phase_count();
}

std::string generate_gemm(const GemmProblem& p, const GemmTile& tile) {
  KernelText text;
  text.define("OUT", storage_type(p.out)), text.define("ELEMENT", bits(p.in) == 8 ? "u8" : bits(p.in) == 16 ? "u16" : "u32");
  text.define("SUM", compute_type(p.sum()));
  text.define("SUM_REGISTER(x)", is_float(p.sum()) ? "\"=f\"(x)" : "\"=r\"(x)"), text.define("MMA_BITS", bits(p.in));
  text.define("MMA_TYPES", cat("\"", mma_type(p.in), ".", mma_type(p.weight), "\"")),
      text.define("MMA_E4M3", p.in == DType::f8e4m3fn ? 1 : 0);
  text.define("BF16", p.in == DType::bf16 ? 1 : 0);
  text.define("TF32", p.in == DType::f32 ? 1 : 0), text.define("PADDED", p.is_conv && p.zero_point >= 0 ? 1 : 0);
  text.define("PAD", p.is_conv && p.zero_point >= 0 ? cat("*(const u8*)a.epilogue[", p.zero_point, "]") : "0");
  text.define("N", p.n), text.define("K", p.k), text.define("ROWS", tile.rows), text.define("COLUMNS", tile.columns),
      text.define("WARPS_DOWN", tile.warps_down);
  text.define("WARPS_ACROSS", tile.warps_across), text.define("STAGES", tile.stages), text.define("SPLIT", tile.split);
  text.define("WEIGHT_AT(n, k)", p.weight_at.empty() ? "((i64)(n) * K + (k))" : p.weight_at), text.define("VECTORS", p.vectors ? 1 : 0),
      text.define("WIDTH", p.vectors ? 8 : 1);
  text.define("CLUSTER", tile.split > 1 ? cat("__cluster_dims__(1, 1, ", tile.split, ")") : "");
  text.define("SPREADS", p.spreads ? 1 : 0), text.define("RESULT", p.width()), text.define("PITCH", p.row_pitch());
  text.define("GROUPS", p.groups), text.define("PHASES", p.phase_count()),
      text.define("RESULT_ROW(m)", p.has_phases() ? "part.result(m)" : "(m)");
  const int row_step = tile.threads() / 8, count = (tile.rows + row_step - 1) / row_step;
  std::string list;
  for (int i = 0; i < count; ++i) list += cat(i ? ", " : "", "Row(a, part, first_row + threadIdx.x / 8 + ", i * row_step, ")");
  text.define("ROW_LIST", list);
  text.define_code("EPILOGUE", print_epilogue(p, -1, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); }));
  define_rows(text, p);
  return text.of("gemm/gemm.cu");
}

}  // namespace tenfold::backends::cuda
