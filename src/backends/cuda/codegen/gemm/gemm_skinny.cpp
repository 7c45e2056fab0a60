// Printing products of few rows.
#include "backends/cuda/codegen/gemm/gemm_skinny.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "backends/cuda/codegen/wgmma_text.h"
#include "base/check.h"
#include "base/checked.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kWidth = 4;  // results that a thread finishes at once

int stage_bytes(int columns) { return (64 + columns) * 128; }
// Tiles, and then sums, in the same place.
int room(const SkinnyTile& t, std::int64_t k) {
  return std::max(t.steps(k) * stage_bytes(t.columns), (64 * (t.columns + 4) * 4 + 1023) / 1024 * 1024);
}

}  // namespace

int SkinnyTile::steps(std::int64_t k) const { return static_cast<int>(ceil_div(ceil_div(k, std::int64_t{depth}), std::int64_t{split})); }
int SkinnyTile::shared_bytes(std::int64_t k) const { return 1024 + room(*this, k) + 8 * steps(k); }

std::string generate_gemm_skinny(const GemmProblem& p, const SkinnyTile& t) {
  KernelText text;
  text.define("OUT", storage_type(p.out)), text.define("BF16", p.in == DType::bf16 ? 1 : 0), text.define("N", p.n),
      text.define("COLUMNS", t.columns);
  text.define("SPLIT", t.split), text.define("WIDTH", kWidth), text.define("kSteps", ceil_div(p.k, std::int64_t{t.depth}));
  text.define("DEPTH", t.depth), text.define("BARRIERS_AT", room(t, p.k));
  text.define("CLUSTER", t.split > 1 ? cat("__cluster_dims__(1, 1, ", t.split, ")") : "");
  text.define_code("EPILOGUE", print_epilogue(p, -1, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); }));
  text.declare(wgmma_text("wgmma", t.columns, p.in, p.in));
  return text.of("gemm/gemm_skinny.cu");
}

}  // namespace tenfold::backends::cuda
