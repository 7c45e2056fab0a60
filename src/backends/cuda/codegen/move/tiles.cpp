// Printing the tile copy.
#include "backends/cuda/codegen/move/tiles.h"

#include "backends/cuda/codegen/kernel_text.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

std::string generate_tiles(int element_bytes, bool large) {
  const int vector = tile_vector(element_bytes);
  KernelText text;
  text.define("ELEMENT", cat("u", 8 * element_bytes)), text.define("WORD", cat("u", 8 * element_bytes * vector));
  text.define("VECTOR", vector), text.define("SIDE", tile_side(element_bytes, large)), text.define("THREADS", kTileThreads);
  return text.of("move/tiles.cu");
}

}  // namespace tenfold::backends::cuda
