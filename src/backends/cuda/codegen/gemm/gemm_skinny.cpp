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

constexpr int kMomentsBytes = 64 * 16;

int stage_bytes(int columns) { return (64 + columns) * 128; }
int tile_bytes(const SkinnyTile& t, std::int64_t k) { return t.steps(k) * stage_bytes(t.columns); }
// Sums lie where tiles were, unless other blocks push theirs while this one still reads tiles.
int sums_at(const SkinnyTile& t, std::int64_t k) { return t.split > 1 ? tile_bytes(t, k) : 0; }
int barriers_at(const SkinnyTile& t, std::int64_t k) {
  return std::max(tile_bytes(t, k), sums_at(t, k) + (64 * (t.columns + 4) * 4 + 1023) / 1024 * 1024);
}

}  // namespace

int SkinnyTile::steps(std::int64_t k) const { return static_cast<int>(ceil_div(ceil_div(k, std::int64_t{depth}), std::int64_t{split})); }
int SkinnyTile::shared_bytes(std::int64_t k) const {
  return 1024 + barriers_at(*this, k) + 8 * (steps(k) + 1) + (norm ? kMomentsBytes : 0);
}

std::string generate_gemm_skinny(const GemmProblem& p, const SkinnyTile& t, double epsilon) {
  KernelText text;
  text.define("OUT", storage_type(p.out)), text.define("BF16", p.in == DType::bf16 ? 1 : 0), text.define("N", p.n),
      text.define("COLUMNS", t.columns);
  // Results that a thread finishes at once: 16 bytes, or half of that where there are few for each thread.
  const int width = bits(p.out) == 16 && 64 / t.split * t.columns >= 8 * 256 ? 8 : 4;
  text.define("SPLIT", t.split), text.define("WIDTH", width), text.define("kSteps", ceil_div(p.k, std::int64_t{t.depth}));
  text.define("DEPTH", t.depth), text.define("SUMS_AT", sums_at(t, p.k)), text.define("BARRIERS_AT", barriers_at(t, p.k));
  text.define("K", p.k), text.define("NORM", t.norm ? 1 : 0), text.define("EPSILON", epsilon), text.define("MMA_BITS", bits(p.in));
  text.define("LOAD(x)", loaded(p.in, "(x)"));
  text.define("PAIR", t.pair);
  text.define("CLUSTER", t.split * t.pair > 1 ? cat("__cluster_dims__(1, ", t.pair, ", ", t.split, ")") : "");
  const EpilogueText epilogue = print_epilogue_apart(p, [&](const std::string& y) { return cat("y[v] = ", stored(p.out, y), ";"); });
  text.define_code("OPERANDS", epilogue.fields), text.define_code("READ_OPERANDS", epilogue.reads);
  text.define_code("EPILOGUE", epilogue.results);
  text.declare(wgmma_text("wgmma", t.columns, p.in, p.in));
  return text.of("gemm/gemm_skinny.cu");
}

}  // namespace tenfold::backends::cuda
