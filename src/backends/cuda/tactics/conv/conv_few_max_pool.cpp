// conv_few_max_pool: convolutions of images with few channels, and the largest of each two by two of their results: as conv_few.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_conv_few();

Tactic cuda_conv_few_max_pool() {
  Tactic tactic = cuda_conv_few();
  tactic.name = "conv_few_max_pool", tactic.op = "ConvMaxPool";
  return tactic;
}

}  // namespace tenfold::backends
