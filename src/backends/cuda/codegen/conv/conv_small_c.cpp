// Printing convolutions of images with few channels.
#include "backends/cuda/codegen/conv/conv_small_c.h"

#include "backends/cuda/codegen/byte_rounding.h"
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int SkinnyProblem::filters() const {
  const int max = 64, n = static_cast<int>(gemm.n);
  if (n <= max) return n;
  return n % 64 == 0 ? 64 : n % 32 == 0 ? 32 : n % 48 == 0 ? 48 : 64;
}

int SkinnyProblem::shared_bytes(const ConvSmallCTile& tile) const {
  const auto rows = [&](std::size_t d, int results) {
    return (results - 1) * gemm.stride[d] + (gemm.kernel[d] - 1) * gemm.dilation[d] + 1;
  };
  const std::int64_t pitch_x = ((15 * gemm.stride[2] + gemm.kernel[2]) * gemm.channels + 2) / 2 * 2;
  const std::int64_t copy = (rows(1, tile.y) * rows(0, tile.z) * pitch_x + 63) / 64 * 64 + 32;
  return static_cast<int>((packed_filters() * pitch() + 64 + copy * (twice() ? 2 : 1)) * 2);
}

int SkinnyProblem::place(int run_index, int element) const {
  return element < run() / 2 * 2 ? run_index * (run() / 2 * 2) + element : run() / 2 * 2 * runs() + run_index * 2;
}

std::string generate_conv_small_c(const SkinnyProblem& p, const ConvSmallCTile& tile, bool vectors) {
  const GemmProblem& g = p.gemm;
  KernelText text;
  const auto define = [&](std::string_view name, const auto& value) { text.define(name, value); };
  define("MMA_BITS", 16), define("BF16", g.in == DType::bf16 ? 1 : 0), define("WIDTH", 2), define("C", g.channels), define("N", g.n),
      define("ROW", g.row_pitch());
  define("RUN", p.run()), define("DEPTH", p.depth()), define("PITCH", p.pitch()), define("FILTERS", p.filters());
  define("PACKED_FILTERS", p.packed_filters()), define("TWICE", p.twice() ? 1 : 0);
  define("TILE_Y", tile.y), define("TILE_Z", tile.z), define("BLOCKS", tile.blocks), define("WARPS", tile.warps());
  define("WIDE", p.wide ? 1 : 0), define("IMAGE", p.wide ? "float" : "u16"), define("VECTORS", vectors ? 1 : 0);
  define("POOLED", p.pooled ? 1 : 0);
  define("TO_HALF", g.in == DType::bf16 ? "to_bf16" : "to_f16");
  const char* axes[3] = {"Z", "Y", "X"};
  for (std::size_t d = 0; d < 3; ++d) {
    define(cat("I", axes[d]), g.in_extent[d]), define(cat("O", axes[d]), g.out_extent[d]), define(cat("K", axes[d]), g.kernel[d]);
    define(cat("S", axes[d]), g.stride[d]), define(cat("D", axes[d]), g.dilation[d]), define(cat("B", axes[d]), g.begin[d]);
  }
  const std::optional<ByteRounding> bytes = g.body ? byte_rounding(*g.body) : std::nullopt;
  const ByteRounding limits = bytes.value_or(ByteRounding{});
  define("BYTES", bytes ? 1 : 0), define("BYTE_LOWER", limits.lower()), define("BYTE_UPPER", limits.upper()),
      define("BYTE_ZERO", limits.zero);
  GemmProblem shown = g;
  const ir::Body floats = bytes ? before_rounding(*g.body, *bytes) : ir::Body{};
  if (bytes) shown.body = &floats;
  text.define_code("EPILOGUE", print_epilogue(shown, -1, [](const std::string& y) { return cat("y[v] = ", y, ";"); }));
  return text.of("conv/conv_small_c.cu");
}

}  // namespace tenfold::backends::cuda
