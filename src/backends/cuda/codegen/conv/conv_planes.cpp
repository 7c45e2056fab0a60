// Printing convolutions by planes.
#include "backends/cuda/codegen/conv/conv_planes.h"

#include <algorithm>

#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/gemm/gemm_epilogue.h"
#include "backends/cuda/codegen/wgmma_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {
namespace {

constexpr int kSharedBytes = 227 << 10;

}  // namespace

int PlanesTile::stage_bytes(const PlanesProblem& p) const {
  const int positions = (x + static_cast<int>(p.gemm.kernel[2]) - 1) * (y + p.row_taps() - 1);
  return (positions * depth(p) * 2 + 1023) / 1024 * 1024;
}
int PlanesTile::stages(const PlanesProblem& p) const {
  return std::clamp((kSharedBytes - 1024 - 256 - (weight_bytes(p) + 1023) / 1024 * 1024) / stage_bytes(p), 0, 8);
}
int PlanesTile::shared_bytes(const PlanesProblem& p) const {
  return 1024 + 256 + (weight_bytes(p) + 1023) / 1024 * 1024 + stages(p) * stage_bytes(p);
}

std::string planes_weight_at(const PlanesProblem& p, const PlanesTile& tile) {
  const std::int64_t channels = p.gemm.channels, filters = tile.filters, taps = p.taps();
  const std::string tap = cat("((k) / ", channels, ")"), channel = cat("((k) % ", channels, ")");
  const std::string row = cat("((", p.fold() - 1, " - ", tap, " / ", taps, ") * ", filters, " + (n) % ", filters, ")");
  return cat("(((((n) / ", filters, " * ", taps, " + ", tap, " % ", taps, ") * ", channels / 8, " + ", channel, " / 8) * ", tile.columns(p),
             " + ", row, ") * 8 + ", channel, " % 8)");
}

std::string generate_conv_planes(const PlanesProblem& p, const PlanesTile& tile) {
  const GemmProblem& g = p.gemm;
  const std::size_t walk = p.walk();
  KernelText text;
  text.define("BF16", g.in == DType::bf16 ? 1 : 0), text.define("WIDTH", 2), text.define("N", g.n), text.define("PITCH", g.row_pitch()),
      text.define("C", g.channels), text.define("FILTERS", tile.filters);
  text.define("TILE_X", tile.x), text.define("TILE_Y", tile.y), text.define("WARPGROUPS", tile.groups),
      text.define("BLOCKS", tile.blocks());
  text.define("DEPTH", tile.depth(p)), text.define("STAGES", tile.stages(p)), text.define("ROWS_ARE_IMAGES", p.rows_are_images() ? 1 : 0);
  text.define("FOLD", p.fold()), text.define("KY", p.row_taps()), text.define("KX", g.kernel[2]);
  text.define("IZ", g.in_extent[walk]), text.define("OZ", g.out_extent[walk]), text.define("OY", g.out_extent[1]),
      text.define("OX", g.out_extent[2]);
  text.define("BZ", g.begin[walk]), text.define("BY", p.rows_are_images() ? 0 : g.begin[1]), text.define("BX", g.begin[2]);
  std::string all;
  for (int count = 1; count <= p.fold(); ++count) {
    text.declare(wgmma_first_text(cat("wgmma_", count * tile.filters), count * tile.filters, tile.columns(p), g.in));
    // For `count` planes of results.
    const std::string when = count < p.fold() ? cat("if (count == ", count, ") ") : "";
    all += cat(count > 1 ? "else " : "", when, "ALL_TAPS(wgmma_", count * tile.filters, ")\n");
  }
  text.define_code("PRODUCTS", all);
  text.define_code("EPILOGUE", print_epilogue(g, -1, [](const std::string& y) { return cat("y[v] = ", y, ";"); }));
  return text.of("conv/conv_planes.cu");
}

}  // namespace tenfold::backends::cuda
