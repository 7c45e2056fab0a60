// Printing products with weights of 4 or 8 bits.
#include "backends/cuda/codegen/gemm/block_scaled.h"

#include <algorithm>
#include <numeric>

#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/prelude.h"

namespace tenfold::backends::cuda {
namespace {

bool is_signed(DType type) { return type == DType::i4 || type == DType::i8; }

// What all three kernels are told; `width`: results that a thread finishes at once.
KernelText begin(const BlockScaledProblem& p, int width) {
  const GemmProblem& g = p.gemm;
  KernelText text;
  text.define("IN", storage_type(g.in)), text.define("OUT", storage_type(g.out)), text.define("LOAD(x)", loaded(g.in, "(x)"));
  text.define("F32", g.in == DType::f32 ? 1 : 0), text.define("BF16", g.in == DType::f16 ? 0 : 1);   // f32 as terms of bf16
  text.define("BITS", p.weight_bits()), text.define("ZEROS", p.zeros ? 1 : 0);
  text.define("ZERO", is_signed(g.weight) ? 1 << (p.weight_bits() - 1) : 0);
  text.define("N", g.n), text.define("K", g.k), text.define("BLOCK", std::min(p.block, g.k)), text.define("WIDTH", width);
  text.define_code("EPILOGUE", print_epilogue(g, -1, [&](const std::string& y) { return cat("y[v] = ", stored(g.out, y), ";"); }));
  return text;
}

}  // namespace

int ManyRowsTile::shared_bytes(const BlockScaledProblem& p) const {
  const int element = bits(p.gemm.in) / 8, rows = 8 * row_tiles, columns = warps * panels, steps = 16 / p.weight_bits();
  const auto block_steps = p.block < p.gemm.k ? p.block / 16 : p.tiles() * steps;
  const int runs = 4 / static_cast<int>(std::gcd<std::int64_t, std::int64_t>(block_steps, 4));
  const int stage = rows * 80 * element + columns * (4 / steps) * 512 + columns * runs * (64 + (p.zeros ? 16 : 0));
  return std::max(stages * stage, rows * (16 * columns + 4) * 4);
}

std::string generate_block_scaled_few(const BlockScaledProblem& p, const FewRowsTile& tile) {
  KernelText text = begin(p, 1);
  text.define("ROW_TILES", tile.row_tiles), text.define("PANELS", tile.panels), text.define("WARPS", tile.warps);
  text.define("NORM", p.norm ? 1 : 0), text.define("EPSILON", cat(decimal(p.epsilon), "f"));
  text.define("NORM_SCALE", storage_type(p.norm_scale)), text.define("LOAD_SCALE(x)", loaded(p.norm_scale, "(x)"));
  return text.of("gemm/block_scaled_few.cu");
}

std::string generate_block_scaled_many(const BlockScaledProblem& p, const ManyRowsTile& tile) {
  KernelText text = begin(p, p.gemm.vectors ? 8 : 1);
  text.define("ROW_TILES", tile.row_tiles), text.define("PANELS", tile.panels), text.define("WARPS", tile.warps);
  text.define("STAGES", tile.stages), text.define("VECTORS", p.gemm.vectors ? 1 : 0);
  return text.of("gemm/block_scaled_many.cu");
}

std::string generate_block_scaled_elements(const BlockScaledProblem& p) {
  KernelText text = begin(p, 1);
  text.define("THREADS", kBlockScaledThreads);
  return text.of("gemm/block_scaled_elements.cu");
}

}  // namespace tenfold::backends::cuda
