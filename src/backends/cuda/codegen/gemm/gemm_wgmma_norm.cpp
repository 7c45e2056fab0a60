// Printing products whose rows are normalized: the blocks of a cluster hold a row between them, and tell each other mean and variance
// of their parts.
#include "backends/cuda/codegen/kernel_text.h"
#include "backends/cuda/codegen/gemm/gemm_wgmma.h"
#include "backends/cuda/codegen/wgmma_text.h"

namespace tenfold::backends::cuda {

int WgmmaNormTile::shared_bytes() const {
  return tile().shared_bytes() + 8 * 2 * 4 * groups + 8 * 2 * cluster * 64 * groups + 3 * 4 * columns;
}

std::string generate_wgmma_norm(const GemmLayerNormProblem& p, const WgmmaNormTile& t) {
  KernelText text;
  define_norm(text, p);
  const WgmmaTile tile = t.tile();
  text.define("COLUMNS", t.columns), text.define("WARPGROUPS", t.groups), text.define("STAGES", t.stages);
  text.define("SLOTS", tile.slots), text.define("STRIP", tile.strip()), text.define("CLUSTER", t.cluster);
  text.define("kSteps", (p.k + kWgmmaDepth - 1) / kWgmmaDepth), text.define("ARRIVING_LANES", arriving_lanes());
  text.declare(wgmma_text("wgmma", t.columns, p.type, p.type));
  return text.of("gemm/gemm_wgmma_norm.cu");
}

}  // namespace tenfold::backends::cuda
